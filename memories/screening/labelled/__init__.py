"""Find labelled secrets: values that look secret, near a word such as "password".

The package does not depend on Django or on `extraction`.
"""
