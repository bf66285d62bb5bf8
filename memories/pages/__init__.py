"""The pages of the Memory Center. They call the other packages of this app and make no
decisions.
"""
