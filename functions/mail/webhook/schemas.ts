import * as v from 'valibot';

/** Says what was done with a delivery, for the provider's log. */
export const WebhookAnswer = v.object({ success: v.literal(true), message: v.string() });
