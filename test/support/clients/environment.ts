import { inject } from 'vitest';
import { blockExternalFetch, permitAddresses } from '../../../infra/local/permit-addresses.ts';

// Handlers and domain functions that a test runs in its own process use the same stack as the gateways.
Object.assign(process.env, inject('stack').env);
permitAddresses(process.env.PERMITTED_ADDRESSES);
blockExternalFetch();
