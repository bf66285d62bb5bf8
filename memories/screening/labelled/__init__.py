"""Find labelled secrets: values that look secret, near a word such as "password"."""
