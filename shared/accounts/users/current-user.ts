import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import type { Bearer } from '../access-tokens.ts';
import { findUserById } from './find-user.ts';
import type { UserRecord } from './user-record.ts';

/** The refusal of an access token whose user is gone or disabled. */
export const userGone = (): AppError =>
  new AppError('TOKEN_INVALID', 'The account of this access token does not exist any more, or is disabled.');

/** The user an access token speaks for; gone or disabled → 401 `TOKEN_INVALID`; one `find`. */
export const requireCurrentUser = async (project: Project, { userId }: Pick<Bearer, 'userId'>): Promise<UserRecord> => {
  const record = await findUserById(project, userId);
  if (!record || record.isDisabled) throw userGone();
  return record;
};
