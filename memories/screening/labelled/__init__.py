"""Find secrets by a label: a value that looks secret, near a word such as "password"."""
