import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Update } from '../persistence/dynamo.ts';
import { itemKey, partitionKey } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';

/** The part of an address that one person controls: the /64 of IPv6. */
export const sourceOf = (address: string): string => {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail.split(':').filter(Boolean);
  const filled = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest];
  return `${filled.slice(0, 4).join(':')}::/64`;
};

/**
 * A window of 15 minutes for one source. The limits of addresses are settings ([config](../core/config.ts)), such as
 * `RATE_LIMIT`. A source is an address, for `deliveries` a project, for `clashes` a project's user. `name`
 * is the attribute that counts it.
 */
export interface RateWindow {
  readonly name: 'all' | 'auth' | 'credential' | 'dashboard' | 'deliveries' | 'clashes';
  readonly limit: number;
  /** Requests that a process counts at a time and then allows without the table; 1 counts each. */
  readonly block: number;
}

export const windowSeconds = 900;

/**
 * Events of its own mail account that a project may receive in a window. More than any plan's emails cause, because the
 * account may send other emails too.
 */
export const deliveriesPerWindow = 10_000;

/** The tightest window after a request was counted. `reset`: seconds from now. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/**
 * A thousandth of the limit: limits below 2000 are exact, and a raised limit costs a fraction of the writes. `asked`
 * overrides it, unless 0.
 */
export const blockOf = (limit: number, asked: number): number => asked || Math.max(1, Math.floor(limit / 1000));

/** `state` gives the error its headers. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit';
  readonly state: RateLimitState;
  readonly refusal: AppError;

  constructor(state: RateLimitState) {
    super('Over the rate limit');
    this.state = state;
    this.refusal = new AppError('RATE_LIMITED', `Too many requests. Retry in ${state.reset} seconds.`, {
      retryAfter: state.reset,
    });
  }
}

/** What this process may still allow without the table, and the table's last count. */
interface Grant {
  left: number;
  counted: number;
  /** Everything granted to this process in the window. */
  total: number;
}

/** A window that must be counted in the table, and how many requests at a time. */
interface Claim {
  readonly window: RateWindow;
  readonly block: number;
}

const startOf = (now: number): number => now - (now % windowSeconds);
const resetOf = (now: number): number => windowSeconds - (now % windowSeconds);

const update = (source: string, start: number, claims: readonly Claim[]): Update => ({
  update: itemKey(kinds.rateWindow, partitionKey('rate', { source }), { start: String(start) }),
  change: `ADD ${claims.map(({ window }) => `n_${window.name} :${window.name}`).join(', ')} SET expiresAt = :end`,
  values: {
    ...Object.fromEntries(claims.map(({ window, block }) => [window.name, block])),
    end: start + windowSeconds + 60,
  },
});

/**
 * A process takes up to a quarter of what it was granted so far, so that it never holds more than a quarter of what it
 * has used. In the last tenth of a window requests are counted one by one.
 */
const nextBlock = ({ limit, block }: RateWindow, grant: Grant | undefined): number => {
  if (!grant || limit - grant.counted <= limit / 10) return 1;
  return Math.max(1, Math.min(block, Math.floor(grant.total / 4)));
};

/** Includes what is left of this process's grant. */
const remainingOf = ({ limit }: RateWindow, grant: Grant | undefined): number =>
  Math.max(0, limit - (grant?.counted ?? 0)) + (grant?.left ?? 0);

interface Counted {
  readonly start: number;
  readonly grants: Map<RateWindow['name'], Grant>;
  /** Full windows, whose requests are rejected without a write. */
  readonly over: Set<RateWindow['name']>;
}

/**
 * Counts the requests of one process. All processes together never allow more than the limit. With blocks of b, up to b
 * - 1 requests per process, and never more than a fifth, may be rejected too early.
 */
export class RateCounter {
  readonly #sources = new Map<string, Counted>();
  /** Time until which some source is rejected; before the first rejection no source needs a look-up. */
  #refusesUntil = 0;
  readonly #maxSources: number;

  constructor(maxSources = 10_000) {
    this.#maxSources = maxSources;
  }

  #countedOf(source: string, start: number): Counted {
    const known = this.#sources.get(source);
    if (known?.start === start) return known;
    if (!known && this.#sources.size >= this.#maxSources) this.#forgetOthers(start);
    const counted: Counted = { start, grants: new Map(), over: new Set() };
    this.#sources.set(source, counted);
    return counted;
  }

  /** Drops past windows; if that is not enough, everything, so that its sources are counted in the table again. */
  #forgetOthers(start: number): void {
    for (const [source, counted] of this.#sources) if (counted.start !== start) this.#sources.delete(source);
    if (this.#sources.size >= this.#maxSources) this.#sources.clear();
  }

  /** Takes one request from each grant; returns the windows whose grant is empty. */
  #claims(windows: readonly RateWindow[], grants: Counted['grants']): readonly Claim[] {
    return windows.flatMap((window) => {
      const grant = grants.get(window.name);
      if (!grant || grant.left === 0) return [{ window, block: nextBlock(window, grant) }];
      grant.left--;
      return [];
    });
  }

  /** Counts by one update and keeps the rest of the grants; returns what remains of each window. */
  async #count(source: string, start: number, claims: readonly Claim[], grants: Counted['grants']) {
    const { item } = await write<Readonly<Record<string, number>>>(update(source, start, claims), 'UPDATED_NEW');
    return claims.map(({ window, block }) => {
      const counted = Number(item?.[`n_${window.name}`]);
      const granted = Math.min(block, window.limit - (counted - block));
      const { left = 0, total = 0 } = grants.get(window.name) ?? {};
      const grant = { left: left + Math.max(0, granted - 1), counted, total: total + Math.max(0, granted) };
      grants.set(window.name, grant);
      return { window, remaining: granted > 0 ? remainingOf(window, grant) : window.limit - counted };
    });
  }

  /** The error for a source that this process knows to be over a limit. */
  refusal(address: string, windows: readonly RateWindow[]): OverLimit | undefined {
    const now = nowSeconds();
    if (now >= this.#refusesUntil) return undefined;
    const known = this.#sources.get(sourceOf(address));
    const over = known?.start === startOf(now) && windows.find(({ name }) => known.over.has(name));
    return over ? new OverLimit({ limit: over.limit, remaining: 0, reset: resetOf(now) }) : undefined;
  }

  /**
   * Counts a request in all its windows by at most one update; returns the tightest window. Windows are aligned to the
   * clock. Throws `OverLimit`, or `SERVICE_UNAVAILABLE` without the table.
   */
  async count(address: string, windows: readonly RateWindow[]): Promise<RateLimitState> {
    const known = this.refusal(address, windows);
    if (known) throw known;
    const now = nowSeconds();
    const reset = resetOf(now);
    const start = startOf(now);
    const source = sourceOf(address);
    const { grants, over } = this.#countedOf(source, start);
    const claims = this.#claims(windows, grants);
    const held = windows
      .filter((window) => claims.every((claim) => claim.window !== window))
      .map((window) => ({ window, remaining: remainingOf(window, grants.get(window.name)) }));
    const counted = claims.length === 0 ? [] : await this.#count(source, start, claims, grants);
    const tightest = [...held, ...counted].reduce((least, one) => (one.remaining < least.remaining ? one : least));
    const { limit, name } = tightest.window;
    if (tightest.remaining < 0) {
      over.add(name);
      this.#refusesUntil = start + windowSeconds;
      throw new OverLimit({ limit, remaining: 0, reset });
    }
    return { limit, remaining: tightest.remaining, reset };
  }
}

const counter = new RateCounter();

export const knownOverLimit = (address: string, windows: readonly RateWindow[]): OverLimit | undefined =>
  counter.refusal(address, windows);

export const countRequest = (address: string, windows: readonly RateWindow[]): Promise<RateLimitState> =>
  counter.count(address, windows);
