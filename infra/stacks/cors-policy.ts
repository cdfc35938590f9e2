/**
 * Which web pages may call an API, and what they may send and read. Plain data: the local gateway answers by it too.
 */
export interface CorsPolicy {
  /** Origins; `https://*` stands for every one that begins so. */
  readonly origins: readonly string[];
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  readonly requestHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  /** How long a browser may remember a preflight. */
  readonly maxAgeSeconds: number;
}

/** What answers say about limits and the request, readable by web pages. */
const exposedHeaders = [
  ...['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id'],
  'etag',
];

/** By which a request says what revision of a document it knows. */
const conditions = ['if-match', 'if-none-match'];

const shared = { methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], maxAgeSeconds: 7200 } as const;

/** The public API may be called from any web page: the gateway echoes its origin (contract 1, "CORS"). */
export const publicCorsPolicy: CorsPolicy = {
  ...shared,
  origins: ['https://*', 'http://*'],
  requestHeaders: [
    'content-type',
    'authorization',
    'x-api-key',
    'x-refresh-token',
    'x-refresh-token-mode',
    'idempotency-key',
    ...conditions,
  ],
  exposedHeaders: [...exposedHeaders, 'idempotent-replayed'],
};

/** The dashboard API may be called from the configured origins only; from no web page where none is configured. */
export const dashboardCorsPolicy = (origins: readonly string[]): CorsPolicy | undefined =>
  origins.length === 0
    ? undefined
    : {
        ...shared,
        origins,
        requestHeaders: ['content-type', 'authorization', 'idempotency-key', ...conditions],
        exposedHeaders,
      };
