import { mailAbout, tokenIn } from '../clients/inbox.ts';
import { type Developer, newDeveloper, type TestProject } from './project.ts';

export type MemberRole = 'viewer' | 'admin';

interface InvitationBody {
  readonly data: { readonly _id: string; readonly email: string; readonly role: MemberRole };
  readonly code?: string;
}

/** Invites an address to a project, as its owner unless said otherwise. */
export const invite = (project: TestProject, email: string, role: MemberRole, by: Developer = project.developer) =>
  by.dashboard<InvitationBody>('POST', `/api/projects/${project.id}/members/invitations`, { email, role });

/** Invites somebody and answers the token of the mail. */
export const invitationFor = async (project: TestProject, email: string, role: MemberRole): Promise<string> => {
  const answer = await invite(project, email, role);
  if (answer.status !== 201) throw new Error(`invitation answered ${JSON.stringify(answer.body)}`);
  return tokenIn(await mailAbout(email, /invited/));
};

export const accept = (developer: Developer, token: string) =>
  developer.dashboard<{ data: { projectId: string; role: MemberRole }; code?: string }>(
    'POST',
    '/api/invitations/accept',
    { token },
  );

/** A developer who has become a member of a project by an invitation and its mail. */
export const newMember = async (project: TestProject, role: MemberRole): Promise<Developer> => {
  const developer = await newDeveloper();
  const answer = await accept(developer, await invitationFor(project, developer.email, role));
  if (answer.status !== 200) throw new Error(`accepting answered ${JSON.stringify(answer.body)}`);
  return developer;
};

/** The id of a developer, 24 hex characters. */
export const idOf = async (developer: Developer): Promise<string> =>
  (await developer.dashboard<{ data: { _id: string } }>('GET', '/api/auth/me')).body.data._id;

/** A personal access token of a developer. */
export const newPersonalToken = async (
  developer: Developer,
  scopes: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly _id: string; readonly token: string }> => {
  const body = { name: 'script', scopes, expiresInDays: 30, ...more };
  const answer = await developer.dashboard<{ data: { _id: string; token: string } }>('POST', '/api/auth/tokens', body);
  if (answer.status !== 201) throw new Error(`token answered ${JSON.stringify(answer.body)}`);
  return answer.body.data;
};
