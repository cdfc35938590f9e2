/** The web pages that may call an API, and what they may send and read. The local gateway uses the same policies. */
export interface CorsPolicy {
  /** Origins; `https://*` matches every origin that begins with `https://`. */
  readonly origins: readonly string[];
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
  readonly requestHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  /** How long a browser may cache a preflight. */
  readonly maxAgeSeconds: number;
}

/** Response headers that web pages may read. */
const exposedHeaders = [
  ...['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'x-request-id'],
  'etag',
];

/** Request headers with the revision of a document that the client knows. */
const conditions = ['if-match', 'if-none-match'];

const shared = { methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], maxAgeSeconds: 7200 } as const;

/** Any web page may call the public API; the gateway echoes its origin (contract 1, "CORS"). */
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

/** Only the configured origins may call the dashboard API. */
export const dashboardCorsPolicy = (origins: readonly string[]): CorsPolicy | undefined =>
  origins.length === 0
    ? undefined
    : {
        ...shared,
        origins,
        requestHeaders: ['content-type', 'authorization', 'idempotency-key', ...conditions],
        exposedHeaders,
      };
