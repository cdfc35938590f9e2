import { ServiceError } from './service-error.ts';

// When a failed request is sent again, as "standard" retries of AWS are: at once for what the network lost, later for
// what was too much, and less and less often while most fail.

const tooMuch = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);

const lostStatus = new Set([500, 502, 503, 504]);

/** `EBADMSG` is an answer that was damaged on its way. */
const lostCode = new Set<unknown>([
  'EAI_AGAIN',
  'EBADMSG',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

type Kind = 'throttled' | 'lost' | 'final';

const kindOf = (error: unknown): Kind => {
  if (!(error instanceof ServiceError)) return lostCode.has((error as { code?: unknown }).code) ? 'lost' : 'final';
  if (error.status === 429 || tooMuch.has(error.name)) return 'throttled';
  // A process that stood still between signing and sending signs anew.
  const isStale = error.name === 'InvalidSignatureException' && error.message.includes('Signature expired');
  return isStale || lostStatus.has(error.status) ? 'lost' : 'final';
};

const cost = { throttled: 5, lost: 14 } as const;
const baseMs = { throttled: 1000, lost: 25 } as const;
const fullQuota = 500;

/** What the failures of one client leave for further tries. */
export class Retries {
  readonly #maxTries: number;
  #quota = fullQuota;

  constructor(maxTries: number) {
    this.#maxTries = maxTries;
  }

  /** Milliseconds to wait before the next try, and what a success gives back; `undefined` where there is none. */
  after(error: unknown, tried: number): { readonly waitMs: number; readonly cost: number } | undefined {
    const kind = kindOf(error);
    if (kind === 'final' || tried >= this.#maxTries || this.#quota < cost[kind]) return undefined;
    this.#quota -= cost[kind];
    return { waitMs: Math.random() * baseMs[kind] * 2 ** (tried - 1), cost: cost[kind] };
  }

  /** A request succeeded: what its last retry cost comes back, or a little where it had none. */
  succeeded(spent = 1): void {
    this.#quota = Math.min(fullQuota, this.#quota + spent);
  }
}
