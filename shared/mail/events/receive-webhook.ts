import { nowSeconds } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { applyEvent } from './apply-event.ts';
import { parseEvent } from './event.ts';
import { isSignable, isSigned, type SignedDelivery } from './signature.ts';
import { projectSecrets, sharedSecrets } from './signing-secrets.ts';

/** Largest body that is looked at; events have a few KiB. */
const maxBytes = 1024 * 1024;

/** A delivery whose signature holds, and whose own account signed it: `null` for the one that all share. */
export interface CheckedDelivery extends SignedDelivery {
  readonly projectId: string | null;
}

const badSignature = (): AppError =>
  new AppError('INVALID_SIGNATURE', 'The signature does not fit the body, or is more than 5 minutes old.');

const requireSigned = (delivery: SignedDelivery, secrets: readonly Buffer[]): void => {
  if (delivery.body.length > maxBytes) throw new AppError('BODY_TOO_LARGE', 'The body is larger than 1 MiB.');
  if (!isSigned(delivery, secrets, nowSeconds())) throw badSignature();
};

/**
 * Judges a delivery by its bytes: too large → 413 `BODY_TOO_LARGE`, not signed by the account that all projects share,
 * or not now → 400 `INVALID_SIGNATURE`. Without a secret to judge it by → `not configured`.
 */
export const checkDelivery = async (delivery: SignedDelivery): Promise<CheckedDelivery | 'not configured'> => {
  const secrets = await sharedSecrets();
  if (secrets.length === 0) return 'not configured';
  requireSigned(delivery, secrets);
  return { ...delivery, projectId: null };
};

/**
 * The same for a delivery of a project's own account; a project that has set no secret, or is none, is refused
 * likewise. What nobody can have signed is refused before the project is looked up.
 */
export const checkProjectDelivery = async (delivery: SignedDelivery, projectId: string): Promise<CheckedDelivery> => {
  if (!isSignable(delivery, nowSeconds())) throw badSignature();
  requireSigned(delivery, await projectSecrets(projectId));
  return { ...delivery, projectId };
};

/** Carries out what a checked delivery says; returns what was done, in the words of the contract. */
export const receiveWebhook = async (delivery: CheckedDelivery | 'not configured'): Promise<string> => {
  if (delivery === 'not configured') return 'Webhook ignored: secret not configured.';
  const { id = '', timestamp, body, projectId } = delivery;
  const event = parseEvent(id, body, new Date(Number(timestamp) * 1000));
  if (!event) return 'Webhook ignored: no event that changes a mail.';
  return (await applyEvent(event, projectId)) ? 'Webhook processed.' : 'Webhook ignored: no mail of this service.';
};
