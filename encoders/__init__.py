"""One file for each constraint family: a round becomes variables and constraints of a CP-SAT model."""
