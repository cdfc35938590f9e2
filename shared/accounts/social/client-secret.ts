import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { nowSeconds } from '../../core/clock.ts';

/** Whose key signs, by the names that Apple gives them. */
export interface SigningApp {
  readonly clientId: string;
  readonly teamId: string;
  readonly keyId: string;
  /** PKCS #8 in PEM. */
  readonly privateKey: string;
}

const lifetimeSeconds = 300;

/**
 * A client secret that is a signed token:
 * https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret
 */
export const signedClientSecret = (
  { clientId, teamId, keyId, privateKey }: SigningApp,
  audience: string,
): Promise<string> =>
  new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(nowSeconds())
    .setExpirationTime(nowSeconds() + lifetimeSeconds)
    .sign(createPrivateKey(privateKey));
