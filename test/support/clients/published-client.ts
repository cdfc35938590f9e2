import urBackend from '@urbackend/sdk';
import { inject } from 'vitest';
// The package's own entry for types leads nowhere under Node's rules; this is where it means to lead.
import type { UrBackendClient } from '../../../node_modules/@urbackend/sdk/dist/index.d.ts';

/** The JavaScript client as it is published, calling the stack with a key of either kind. */
export const publishedClient = (apiKey: string): UrBackendClient =>
  urBackend({ apiKey, baseUrl: inject('stack').baseUrl }) as UrBackendClient;

/** A refusal as the client throws it; the name tells its kind. */
export const refusedAs = (name: 'AuthError' | 'NotFoundError' | 'RateLimitError' | 'ValidationError') =>
  ({ name }) as const;
