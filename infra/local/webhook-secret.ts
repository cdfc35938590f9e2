import { createHmac } from 'node:crypto';

/**
 * What the mail provider on this machine signs its events with: the same from one start to the next, as the master key
 * is.
 */
export const localWebhookSecret = (encryptionKey: string): string =>
  `whsec_${createHmac('sha256', encryptionKey).update('mail webhook').digest('base64')}`;
