import urBackend from '@urbackend/sdk';
import { inject } from 'vitest';
// The package's types entry does not resolve under Node's rules; this is its target.
import type { UrBackendClient } from '../../../node_modules/@urbackend/sdk/dist/index.d.ts';

/** The published JavaScript client with either kind of key. */
export const publishedClient = (apiKey: string): UrBackendClient =>
  urBackend({ apiKey, baseUrl: inject('stack').baseUrl }) as UrBackendClient;

/** An error of the client; the name is its kind. */
export const refusedAs = (name: 'AuthError' | 'NotFoundError' | 'RateLimitError' | 'ValidationError') =>
  ({ name }) as const;
