import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { ownProviderKey } from '../provider-key.ts';

/** The project's own key at the provider, which audiences live under; none → 403 `OWN_MAIL_KEY_REQUIRED`. */
export const requireOwnKey = async (project: Project): Promise<string> => {
  const apiKey = await ownProviderKey(project);
  if (apiKey) return apiKey;
  throw new AppError(
    'OWN_MAIL_KEY_REQUIRED',
    'Audiences, contacts and broadcasts need a mail provider key of your own. Set providerApiKey in the settings of the project.',
  );
};

/** The same for broadcasts, which are of the pro plan besides; another → 403 `PRO_PLAN_REQUIRED`. */
export const requireBroadcasts = async (project: Project): Promise<string> => {
  const apiKey = await requireOwnKey(project);
  if (project.plan === 'pro') return apiKey;
  throw new AppError('PRO_PLAN_REQUIRED', 'Broadcasts are part of the pro plan.');
};
