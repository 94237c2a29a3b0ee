"""From a solution to a sequence of moves in which every step passes the filters."""
