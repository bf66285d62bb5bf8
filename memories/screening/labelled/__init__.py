"""Find secrets by a label: a value that looks like a secret, near a word that announces one."""
