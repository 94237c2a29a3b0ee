"""Why a pod or a pod group waits: what placing it would cost, or a minimal core of reasons with its proof."""
