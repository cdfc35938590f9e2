import { ProviderError } from './reply.ts';

/** The events of an email to one address, in their order. */
export type Outcome = readonly EventKind[];

export type EventKind =
  | 'email.sent'
  | 'email.delivered'
  | 'email.delivery_delayed'
  | 'email.bounced'
  | 'email.complained';

const delivered: Outcome = ['email.sent', 'email.delivered'];

/** The provider's test addresses at `resend.dev`, and some more. */
const outcomes: ReadonlyMap<string, Outcome> = new Map([
  ['bounced', ['email.sent', 'email.bounced']],
  ['softbounced', ['email.sent', 'email.bounced']],
  ['complained', ['email.sent', 'email.delivered', 'email.complained']],
  ['delayed', ['email.sent', 'email.delivery_delayed']],
  ['silent', []],
]);

/** `bounced` for `bounced+anything@resend.dev`; empty for other addresses. */
const testNameOf = (address: string): string =>
  /^(?:.*<)?([a-z]+)(?:\+[^@<>]*)?@resend\.dev>?$/i.exec(address)?.[1]?.toLowerCase() ?? '';

export const outcomeOf = (address: string): Outcome => outcomes.get(testNameOf(address)) ?? delivered;

/** True if a bounce at this address is temporary. */
export const bouncesSoftly = (address: string): boolean => testNameOf(address) === 'softbounced';

/** Throws 429 for emails to `ratelimited@resend.dev` and 500 for emails to `error@resend.dev`. */
export const requireNoErrorAddress = (addresses: readonly string[]): void => {
  const names = new Set(addresses.map(testNameOf));
  if (names.has('ratelimited')) {
    throw new ProviderError(
      429,
      'rate_limit_exceeded',
      'Too many requests. Please limit the number of requests per second.',
      {
        'retry-after': '1',
      },
    );
  }
  if (names.has('error')) throw new ProviderError(500, 'application_error', 'An unexpected error occurred.');
};
