import { ShortCache } from '../../core/cache.ts';
import { isClientError } from '../../core/errors.ts';
import type { SignedDelivery } from '../../mail/event-signature.ts';
import { type CheckedDelivery, checkDelivery, checkProjectDelivery } from '../../mail/events.ts';
import { projectScope } from '../../persistence/item-keys.ts';
import { deliveriesPerWindow, knownOverLimit } from '../../rate-limit/rate-limit.ts';
import type { Route } from '../route.ts';
import { type Event, type Middleware, sourceAddress } from '../stack.ts';
import type { AnswerHeaders } from './error-envelope.ts';
import { requireUnencoded } from './input.ts';
import { consume, rateLimit, requireWithinLimit, windowOf, windowsOf } from './rate-limit.ts';

/** Added by `signedWebhook`. */
interface WithDelivery {
  readonly delivery: CheckedDelivery | 'not configured';
}

/**
 * The delivery's headers and the bytes of its body, which nothing may have parsed before. The headers are `svix-*`, or
 * without its signature `webhook-*`, their names in the Standard Webhooks specification; the two are never mixed.
 */
const deliveryOf = (event: Event): SignedDelivery => {
  requireUnencoded(event);
  const { headers, body = '', isBase64Encoded } = event;
  const prefix = headers['svix-signature'] === undefined ? 'webhook' : 'svix';
  return {
    id: headers[`${prefix}-id`],
    timestamp: headers[`${prefix}-timestamp`],
    signature: headers[`${prefix}-signature`],
    body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  };
};

type Check = (event: Event) => Promise<WithDelivery['delivery']>;

/** The account that all projects share must have signed. */
export const bySharedAccount: Check = (event) => checkDelivery(deliveryOf(event));

/** The account of the project in the path must have signed. */
export const byProjectAccount: Check = (event) =>
  checkProjectDelivery(deliveryOf(event), event.pathParameters?.projectId ?? '');

/** Addresses over their limit that had a project looked up in the last tenth of a second. */
const lookedUpFor = new ShortCache<true>(100, 1000);

/**
 * Whether an address that is over its limit may have one more project looked up: ten times a second, as all accounts at
 * the provider call from the same few addresses, and one that is signed wrongly shall not silence the others.
 */
const mayLookUp = (address: string): boolean => {
  let isFirst = false;
  void lookedUpFor.get(address, async () => {
    isFirst = true;
    return true;
  });
  return isFirst;
};

/** A project's own account signs what it likes, so its deliveries are counted for the project. */
const countDelivery = (context: AnswerHeaders, projectId: string): Promise<void> =>
  consume(context, projectScope(projectId), windowOf('deliveries', deliveriesPerWindow), false);

/**
 * Lets only deliveries through that the mail provider signed. Those of the account that all share are not counted, as
 * it sends many from few addresses; those of a project's own account are, for the project; what is refused is, for its
 * address, so that a flood of them ends in 429 (contract 5, "Webhook").
 */
export const signedWebhook = (route: Route, check: Check): Middleware<AnswerHeaders, WithDelivery> => {
  const { before: count } = rateLimit(route);
  const looksUp = route.path.includes('{projectId}');
  return {
    before: async (incoming) => {
      const { event, context } = incoming;
      const address = sourceAddress(event);
      const known = looksUp && knownOverLimit(address, windowsOf(route));
      if (known && !mayLookUp(address)) requireWithinLimit(context, known);
      let delivery: WithDelivery['delivery'];
      try {
        delivery = await check(event);
      } catch (error) {
        if (isClientError(error)) await count(incoming);
        throw error;
      }
      if (delivery !== 'not configured' && delivery.projectId !== null)
        await countDelivery(context, delivery.projectId);
      return { delivery };
    },
  };
};
