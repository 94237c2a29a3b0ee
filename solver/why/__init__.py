"""Why a pod or a pod group waits: what it would cost to place it, or a minimal core of reasons, with its proof."""
