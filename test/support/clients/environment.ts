import { inject } from 'vitest';
import { blockExternalFetch, permitAddresses } from '../../../infra/local/permit-addresses.ts';

// Handlers and domain functions in a test's own process use the same services as the gateways.
Object.assign(process.env, inject('stack').env);
permitAddresses(process.env.PERMITTED_ADDRESSES);
blockExternalFetch();
