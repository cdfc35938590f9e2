import { ShortCache } from '../core/cache.ts';
import { isClientError } from '../core/errors.ts';
import type { SignedDelivery } from '../mail/event-signature.ts';
import { type CheckedDelivery, checkDelivery, checkProjectDelivery } from '../mail/events.ts';
import { projectScope } from '../persistence/item-keys.ts';
import { deliveriesPerWindow, knownOverLimit } from '../rate-limit/rate-limit.ts';
import { type Of, pathOf } from './endpoint.ts';
import type { AnswerHeaders } from './middleware/error-envelope.ts';
import { requireUnencoded } from './middleware/input.ts';
import { consume, rateLimit, requireWithinLimit, windowOf, windowsOf } from './middleware/rate-limit.ts';
import type { Route } from './route.ts';
import { type Event, type Middleware, sourceAddress } from './stack.ts';

interface WithDelivery {
  readonly delivery: CheckedDelivery | 'not configured';
}

/**
 * Returns the signature headers and the raw body. The headers are `svix-*` or, if there is no `svix-signature`, the
 * `webhook-*` of Standard Webhooks; the two are never mixed.
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

const bySharedAccount: Check = (event) => checkDelivery(deliveryOf(event));

const byProjectAccount: Check = (event) =>
  checkProjectDelivery(deliveryOf(event), event.pathParameters?.projectId ?? '');

/** Addresses over their limit that caused a project look-up in the last 100 ms. */
const lookedUpFor = new ShortCache<true>(100, 1000);

/**
 * An address over its limit may still cause ten look-ups a second. All accounts at the provider call from the same few
 * addresses, so one with bad signatures must not block the others.
 */
const mayLookUp = (address: string): boolean => {
  let isFirst = false;
  void lookedUpFor.get(address, async () => {
    isFirst = true;
    return true;
  });
  return isFirst;
};

/** A customer's own account can sign anything, so its deliveries are counted for the project. */
const countDelivery = (context: AnswerHeaders, projectId: string): Promise<void> =>
  consume(context, projectScope(projectId), windowOf('deliveries', deliveriesPerWindow), false);

/**
 * Accepts only deliveries signed by the mail provider. Deliveries of the shared account are not counted, because many
 * come from few addresses. Those of a project's account count for the project. Rejected ones count for their address,
 * so that a flood ends in 429.
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

/** Called by the mail provider. Its signature over the raw body replaces a key. */
export const webhookEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(signedWebhook(route, bySharedAccount));

export const projectWebhookEndpoint = <const R extends Of<'public'>>(route: R) =>
  pathOf(route).use(signedWebhook(route, byProjectAccount));
