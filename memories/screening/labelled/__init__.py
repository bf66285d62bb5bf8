"""Find secrets by the words around them: values near a label such as "password" or "log in".

The package does not depend on Django or on `extraction`.
"""
