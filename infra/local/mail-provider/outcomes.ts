import { ProviderError } from './answer.ts';

/** What becomes of a mail to one address, by the events that tell of it, in their order. */
export type Outcome = readonly EventKind[];

export type EventKind =
  | 'email.sent'
  | 'email.delivered'
  | 'email.delivery_delayed'
  | 'email.bounced'
  | 'email.complained';

const delivered: Outcome = ['email.sent', 'email.delivered'];

/** The provider's own addresses for trying things out, at `resend.dev`, and some more of that kind. */
const outcomes: ReadonlyMap<string, Outcome> = new Map([
  ['bounced', ['email.sent', 'email.bounced']],
  ['softbounced', ['email.sent', 'email.bounced']],
  ['complained', ['email.sent', 'email.delivered', 'email.complained']],
  ['delayed', ['email.sent', 'email.delivery_delayed']],
  ['silent', []],
]);

/** The word that an address switches by: `bounced` of `bounced+anything@resend.dev`; empty for other addresses. */
const switchOf = (address: string): string =>
  /^(?:.*<)?([a-z]+)(?:\+[^@<>]*)?@resend\.dev>?$/i.exec(address)?.[1]?.toLowerCase() ?? '';

/** What becomes of a mail to this address. */
export const outcomeOf = (address: string): Outcome => outcomes.get(switchOf(address)) ?? delivered;

/** Whether a bounce at this address is one that another try may heal. */
export const bouncesSoftly = (address: string): boolean => switchOf(address) === 'softbounced';

/**
 * Refuses mails to the addresses that switch refusals on: 429 to `ratelimited@resend.dev`, 500 to `error@resend.dev`.
 */
export const refuseBySwitch = (addresses: readonly string[]): void => {
  const switches = new Set(addresses.map(switchOf));
  if (switches.has('ratelimited')) {
    throw new ProviderError(
      429,
      'rate_limit_exceeded',
      'Too many requests. Please limit the number of requests per second.',
      {
        'retry-after': '1',
      },
    );
  }
  if (switches.has('error')) throw new ProviderError(500, 'application_error', 'An unexpected error occurred.');
};
