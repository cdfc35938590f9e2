import { inject } from 'vitest';

// Handlers and domain functions that a test runs in its own process use the same stack as the gateways.
Object.assign(process.env, inject('stack').env);
