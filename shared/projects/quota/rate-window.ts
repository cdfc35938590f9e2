import { AppError } from '../../core/errors.ts';

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
export interface Standing {
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
  readonly standing: Standing;
  readonly refusal: AppError;

  constructor(standing: Standing) {
    super('Over the rate limit');
    this.standing = standing;
    this.refusal = new AppError('RATE_LIMITED', `Too many requests. Try again in ${standing.reset} seconds.`, {
      retryAfter: standing.reset,
    });
  }
}
