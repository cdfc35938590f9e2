import { hash, randomBytes } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import { viewOf } from '../../core/view.ts';
import type { InvitationRecord } from '../project-record.ts';

export const invitationDays = 7;

/** How many members a project can have besides its owner, open invitations included. */
export const maxMembers = 50;

const wellFormed = /^[A-Za-z0-9_-]{43}$/;

/** A new token of an invitation: 256 random bits in base64url. */
export const newInvitationToken = (): string => randomBytes(32).toString('base64url');

/** The form in which such a token is stored and looked up; `undefined` for anything that cannot be one. */
export const hashInvitationToken = (token: string): string | undefined =>
  wellFormed.test(token) ? hash('sha256', token, 'hex') : undefined;

export type Invitation = ReturnType<typeof toInvitation>;

export const toInvitation = (record: InvitationRecord) =>
  viewOf(record, ['_id', 'email', 'role', 'invitedBy', 'createdAt', 'expiresAt']);

/** The one refusal of an invitation, whatever is wrong with it. */
export const noInvitation = (): AppError =>
  new AppError(
    'INVITATION_NOT_FOUND',
    'There is no such invitation for your address: it was used, withdrawn or has expired, or it is for somebody else.',
  );
