"""Reports that people look at: one HTML file with everything in it, from documents of other commands."""
