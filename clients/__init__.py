"""The Python and TypeScript clients, and how their types are generated: `make clients`."""
