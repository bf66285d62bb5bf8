"""Put memories into the person's own words, and find their dates, languages and topics.

The package works on plain values and does not depend on Django.
"""
