import { nowSeconds } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Update } from '../persistence/dynamo.ts';
import { itemKey, partitionKey } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';

/** The part of an address that one party controls: IPv6 is counted by its /64. */
export const sourceOf = (address: string): string => {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const rest = tail.split(':').filter(Boolean);
  const filled = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest];
  return `${filled.slice(0, 4).join(':')}::/64`;
};

/** 15 minutes of one source: an address, for `deliveries` a project, for `clashes` one of its users. `name` is the attribute that counts it. */
export interface RateWindow {
  readonly name: 'all' | 'auth' | 'credential' | 'dashboard' | 'deliveries' | 'clashes';
  readonly limit: number;
  /** Requests that a process counts at once and then lets in without asking the table; 1 counts each. */
  readonly block: number;
}

export const windowSeconds = 900;

/**
 * How many deliveries of its own account at the mail provider a project may get in a window: more than the events of
 * the mails that any plan sends, as that account may send others.
 */
export const deliveriesPerWindow = 10_000;

/** How the tightest window stands after a request was counted. `reset` is in whole seconds from now. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/**
 * How many requests a window of this limit counts at once: a thousandth, so that limits under 2000 are exact and a
 * raised one costs a fraction of the writes. `asked` is the operator's own choice, 0 where there is none.
 */
export const blockOf = (limit: number, asked: number): number => asked || Math.max(1, Math.floor(limit / 1000));

/** A request over a limit; `standing` gives the refusal the headers of an answer. */
export class OverLimit extends Error {
  override readonly name = 'OverLimit';
  readonly standing: RateLimitState;
  readonly refusal: AppError;

  constructor(standing: RateLimitState) {
    super('Over the rate limit');
    this.standing = standing;
    this.refusal = new AppError('RATE_LIMITED', `Too many requests. Try again in ${standing.reset} seconds.`, {
      retryAfter: standing.reset,
    });
  }
}

/** What this process may still let in without asking the table, and the table's count when it last replied. */
interface Grant {
  left: number;
  counted: number;
  /** All that this process was granted in the window. */
  total: number;
}

/** A window from which a request has to be counted in the table, and how many are counted at once. */
interface Claim {
  readonly window: RateWindow;
  readonly block: number;
}

const rememberedSources = 10_000;

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
 * A process takes a quarter more than it was granted so far, up to a block, so that it never holds more than a quarter
 * of what it has used; over the last tenth of a window requests are counted one by one.
 */
const nextBlock = ({ limit, block }: RateWindow, grant: Grant | undefined): number => {
  if (!grant || limit - grant.counted <= limit / 10) return 1;
  return Math.max(1, Math.min(block, Math.floor(grant.total / 4)));
};

/** What is not counted yet as far as this process knows, plus what is left of its own grant. */
const remainingOf = ({ limit }: RateWindow, grant: Grant | undefined): number =>
  Math.max(0, limit - (grant?.counted ?? 0)) + (grant?.left ?? 0);

/** What this process knows of a source in the windows that run, which began together. */
interface Counted {
  readonly start: number;
  readonly grants: Map<RateWindow['name'], Grant>;
  /** Those that are used up: refused without another write. */
  readonly over: Set<RateWindow['name']>;
}

/**
 * Counts the requests of one process. All processes together never let in more than the limit; with blocks of b, up to
 * b - 1 for each process, and never more than a fifth, may be refused too early.
 */
export class RateCounter {
  readonly #sources = new Map<string, Counted>();
  /** Until then some source is refused: before the first refusal of a window none is looked up. */
  #refusesUntil = 0;

  #countedOf(source: string, start: number): Counted {
    const known = this.#sources.get(source);
    if (known?.start === start) return known;
    if (!known && this.#sources.size >= rememberedSources) this.#forgetOthers(start);
    const counted: Counted = { start, grants: new Map(), over: new Set() };
    this.#sources.set(source, counted);
    return counted;
  }

  /** Forgets what is left of past windows, and everything where that is not enough: its sources count anew. */
  #forgetOthers(start: number): void {
    for (const [source, counted] of this.#sources) if (counted.start !== start) this.#sources.delete(source);
    if (this.#sources.size >= rememberedSources) this.#sources.clear();
  }

  /** Takes one request from each grant that has some left; returns the windows that have none. */
  #claims(windows: readonly RateWindow[], grants: Counted['grants']): readonly Claim[] {
    return windows.flatMap((window) => {
      const grant = grants.get(window.name);
      if (!grant || grant.left === 0) return [{ window, block: nextBlock(window, grant) }];
      grant.left--;
      return [];
    });
  }

  /** Counts claims by one update and keeps what they grant beyond this request; returns what is left of each. */
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

  /** The refusal for a source that this process knows to be over a limit until the window ends. */
  refusal(address: string, windows: readonly RateWindow[]): OverLimit | undefined {
    const now = nowSeconds();
    if (now >= this.#refusesUntil) return undefined;
    const known = this.#sources.get(sourceOf(address));
    const over = known?.start === startOf(now) && windows.find(({ name }) => known.over.has(name));
    return over ? new OverLimit({ limit: over.limit, remaining: 0, reset: resetOf(now) }) : undefined;
  }

  /**
   * Counts one request of a source address in all its windows, by one update at most, and tells how the tightest
   * stands. Windows are aligned to the clock. Over a limit → `OverLimit`; the table out of reach →
   * `SERVICE_UNAVAILABLE`.
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

/** What this process knows already of a source that is over a limit, as `RateCounter.refusal` tells it. */
export const knownOverLimit = (address: string, windows: readonly RateWindow[]): OverLimit | undefined =>
  counter.refusal(address, windows);

/** Counts one request in the counter of this process, as `RateCounter.count` does. */
export const countRequest = (address: string, windows: readonly RateWindow[]): Promise<RateLimitState> =>
  counter.count(address, windows);
