import { AppError } from '../../errors.ts';
import { type CheckedDelivery, checkDelivery, checkProjectDelivery } from '../../mail/webhook/receive-delivery.ts';
import type { SignedDelivery } from '../../mail/webhook/signature.ts';
import type { Route } from '../route.ts';
import type { Adds, Event } from './adds.ts';
import type { AnswerHeaders } from './error-envelope.ts';
import { rateLimit } from './rate-limit.ts';

export interface WithDelivery {
  delivery: CheckedDelivery | 'not configured';
}

/** The delivery's headers and the bytes of its body, which nothing may have parsed before. */
const deliveryOf = ({ headers, body = '', isBase64Encoded }: Event): SignedDelivery => ({
  id: headers['svix-id'],
  timestamp: headers['svix-timestamp'],
  signature: headers['svix-signature'],
  body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
});

/** Where the path names a project, its own account has to have signed. */
const check = (event: Event): Promise<WithDelivery['delivery']> => {
  const projectId = event.pathParameters?.projectId;
  const delivery = deliveryOf(event);
  return projectId === undefined ? checkDelivery(delivery) : checkProjectDelivery(delivery, projectId);
};

/**
 * Lets only deliveries through that the mail provider signed. Those are not counted, as it sends many from few addresses;
 * what is refused is, so that a flood of them ends in 429 (contract 5, "Webhook").
 */
export const signedWebhook = (route: Route): Adds<AnswerHeaders & WithDelivery> => {
  const { before: count } = rateLimit(route);
  return {
    before: async (request) => {
      try {
        request.context.delivery = await check(request.event);
      } catch (error) {
        if (error instanceof AppError && error.code !== 'SERVICE_UNAVAILABLE') await count?.(request);
        throw error;
      }
    },
  };
};
