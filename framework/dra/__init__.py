"""Dynamic resource allocation: which devices serve which claim.

The rooms, from the objects to the answer: `inventory` (slices, pools, what a node reaches), `cel` and
`selection` (which devices a request may have), `claims` (what is asked), `search` (the allocator), `holdings`
(what is taken), `allocation` (an answer), and `checker`, which judges answers and shares nothing with the
search.

Sources: KEP-4381, KEP-4815, KEP-4816, KEP-5004, KEP-5018, KEP-5055, KEP-5075;
k8s.io/dynamic-resource-allocation/structured at 1.34.1.
"""
