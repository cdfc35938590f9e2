import { ObjectId } from 'mongodb';
import { AppError } from '../../errors.ts';
import { canonicalEmail } from '../email.ts';
import type { SessionScope } from '../session-keys.ts';
import { consumeCode, consumeToken, type TokenOwner } from './consume-tokens.ts';
import { addressKeyOf, type EmailTokenKind } from './email-token.ts';

/** What shows that someone has the mail, as sent: the token of its link, or its code along with the address. */
export interface EmailProof {
  readonly token?: string | undefined;
  readonly email?: string | undefined;
  readonly otp?: string | undefined;
}

/** The one refusal of a token or code, whatever is wrong with it. */
export const invalidEmailToken = (): AppError =>
  new AppError(
    'INVALID_EMAIL_TOKEN',
    'The link or code is wrong, was used already or has expired. Request a new mail.',
  );

const incomplete = ({ email, otp }: EmailProof): AppError => {
  const field = email === undefined && otp === undefined ? 'token' : email === undefined ? 'email' : 'otp';
  const message = field === 'token' ? 'is required, or email and otp' : 'is required';
  return new AppError('VALIDATION_FAILED', `Validation failed: ${field} ${message}`, { errors: [{ field, message }] });
};

const ownerOf = (scope: SessionScope, kind: EmailTokenKind, proof: EmailProof): Promise<TokenOwner | undefined> => {
  const { token, email, otp } = proof;
  if (token !== undefined) return consumeToken(scope, kind, token);
  if (email === undefined || otp === undefined) throw incomplete(proof);
  return consumeCode({ scope, kind, addressKey: addressKeyOf(canonicalEmail(email)) }, otp);
};

/** Uses a proof up; answers what matches its owner, as long as the address that had the mail is still his. Else 400. */
export const consumeProof = async (scope: SessionScope, kind: EmailTokenKind, proof: EmailProof) => {
  const owner = await ownerOf(scope, kind, proof);
  if (!owner) throw invalidEmailToken();
  return { _id: new ObjectId(owner.userId), email: { $eq: owner.email } };
};
