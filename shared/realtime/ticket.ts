import { errors, jwtVerify, SignJWT } from 'jose';
import { clock, nowSeconds } from '../core/clock.ts';
import type { Caller, Project } from '../projects/project.ts';
import { derivedKey } from '../projects/sealed.ts';

/** Seconds for which a ticket opens connections and subscriptions. */
export const ticketSeconds = 900;

const typ = 'realtime+jwt';
const audience = 'realtime';

/** In characters; one of 20 channels has two thousand. */
const maxLength = 8192;

const key = (): Promise<Buffer> => derivedKey('realtime tickets');

/** A ticket that lets whoever has it hear these channels, and nothing else. */
export const issueTicket = async (
  { id }: Project,
  { kind, userId }: Caller,
  channels: readonly string[],
): Promise<string> =>
  new SignJWT({ project: id, caller: kind, channels, ...(userId !== undefined && { sub: userId }) })
    .setProtectedHeader({ alg: 'HS256', typ })
    .setAudience(audience)
    .setIssuedAt(nowSeconds())
    .setExpirationTime(nowSeconds() + ticketSeconds)
    .sign(await key());

/** The channels of a ticket of ours that is good now; `undefined` for anything else. */
export const channelsIn = async (ticket: string): Promise<readonly string[] | undefined> => {
  if (ticket.length > maxLength) return undefined;
  try {
    const { payload } = await jwtVerify(ticket, await key(), {
      algorithms: ['HS256'],
      typ,
      audience,
      currentDate: new Date(clock.now()),
      requiredClaims: ['exp', 'iat'],
    });
    return Array.isArray(payload.channels) ? payload.channels.map(String) : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
};
