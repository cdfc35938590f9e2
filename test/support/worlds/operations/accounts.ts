import { ObjectId } from 'mongodb';
import { handler as changePassword } from '../../../../functions/user-auth/change-password.ts';
import { handler as refreshToken } from '../../../../functions/user-auth/refresh-token.ts';
import { handler as requestReset } from '../../../../functions/user-auth/request-password-reset.ts';
import { handler as logIn } from '../../../../functions/user-auth/sign-in.ts';
import { handler as signUp } from '../../../../functions/user-auth/sign-up.ts';
import { signUpDeveloper } from '../../../../shared/accounts/developers/developers.ts';
import { parseRefreshToken } from '../../../../shared/accounts/sessions.ts';
import { newSigningKey } from '../../../../shared/accounts/tokens.ts';
import { deleteUser } from '../../../../shared/accounts/users/manage-users.ts';
import { deleteDeveloper } from '../../../../shared/deletion/developers.ts';
import { createProject } from '../../../../shared/projects/create-project.ts';
import { invoke } from '../../clients/invoke.ts';
import {
  makeProject,
  newAddress,
  newOwner,
  type Operation,
  type OwnProject,
  requireEqual,
  requireStatus,
  statusFor,
} from './operation.ts';
import type { World } from './world.ts';

const client = { ip: '192.0.2.1', userAgent: 'test' };
const inHeader = { 'x-refresh-token-mode': 'header' };
const password = 'a first password';

interface Person {
  readonly email: string;
  readonly userId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** A user of a project, signed in. */
export const newPerson = async ({ publishableKey: key }: OwnProject): Promise<Person> => {
  const email = newAddress();
  const { status, body } = await invoke(signUp, { key, headers: inHeader, body: { email, password } });
  requireStatus('sign-up', status, 201);
  return { email, ...(body as unknown as Omit<Person, 'email'>) };
};

const logInStatus = async ({ publishableKey: key }: OwnProject, email: string, word: string): Promise<number> =>
  (await invoke(logIn, { key, body: { email, password: word } })).status;

const usersWith = ({ at }: World, { id }: OwnProject, email: string): Promise<number> =>
  at.mongo.db(`p_${id}`).collection('users').countDocuments({ email });

export const accountOperations: readonly Operation[] = [
  {
    name: 'sign-up',
    prepare: async (world) => {
      const project = await makeProject(['users']);
      const body = { email: newAddress(), password };
      const act = async (): Promise<number> => (await invoke(signUp, { key: project.publishableKey, body })).status;
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second sign-up', await act(), 201, 409),
        verify: async (done) => {
          requireEqual('accounts', await usersWith(world, project, body.email), 1, ...(done ? [] : [0]));
          if (done) requireStatus('sign-in', await logInStatus(project, body.email, password), 200);
        },
      };
    },
  },
  {
    name: 'refresh',
    prepare: async () => {
      const project = await makeProject(['users']);
      const person = await newPerson(project);
      let token = person.refreshToken;
      const act = async (): Promise<number> => {
        const headers = { ...inHeader, 'x-refresh-token': token };
        const { status, body } = await invoke(refreshToken, { key: project.publishableKey, headers });
        if (status === 200) token = (body as { refreshToken: string }).refreshToken;
        return status;
      };
      return {
        projectIds: [project.id],
        act,
        // Where the rotation was done and nobody was told, the old token is used up.
        again: async () => requireStatus('a second refresh', await act(), 200, 401),
        verify: async () => {
          if (parseRefreshToken(token) === undefined) throw new Error('The answer was no token');
          requireStatus('sign-in', await logInStatus(project, person.email, password), 200);
        },
      };
    },
  },
  {
    name: 'change of a password',
    prepare: async () => {
      const project = await makeProject(['users']);
      const { email, accessToken: token } = await newPerson(project);
      const body = { currentPassword: password, newPassword: 'a second password' };
      const act = async (): Promise<number> =>
        (await invoke(changePassword, { key: project.publishableKey, token, body })).status;
      let signIns: readonly number[] = [];
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second change', await act(), 200, 401),
        // One that dies before it is written shuts out sign-ins for two minutes.
        later: async () => {
          signIns = [await logInStatus(project, email, password), await logInStatus(project, email, body.newPassword)];
        },
        verify: async (done) =>
          requireEqual('sign-in with either password', signIns, [401, 200], ...(done ? [] : [[200, 401]])),
      };
    },
  },
  {
    name: 'request for a password reset',
    prepare: async (world) => {
      const project = await makeProject(['users']);
      const { email } = await newPerson(project);
      await world.sweep();
      const before = await world.mailsTo(email);
      const act = async (): Promise<number> =>
        (await invoke(requestReset, { key: project.publishableKey, body: { email } })).status;
      return {
        projectIds: [project.id],
        act,
        verify: async (done) => requireEqual('mails', (await world.mailsTo(email)) - before, 1, ...(done ? [] : [0])),
      };
    },
  },
  {
    name: 'deletion of a user',
    prepare: async (world) => {
      const project = await makeProject(['users']);
      const { email, userId } = await newPerson(project);
      const act = (): Promise<number> => statusFor(() => deleteUser(project.project, userId));
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second deletion', await act(), 200, 404),
        verify: async (done) => {
          const left = await usersWith(world, project, email);
          requireEqual('accounts', left, 0, ...(done ? [] : [1]));
          const items = await world.at.items(`p#${project.id}`);
          const sessions = items.filter(({ sk }) => sk?.S?.startsWith('session#')).length;
          if (left === 0) requireEqual('sessions', sessions, 0);
        },
      };
    },
  },
  {
    name: 'creation of a project',
    prepare: async (world) => {
      const owner = await newOwner();
      const names = { name: 'interrupted' };
      const act = (): Promise<number> => statusFor(() => createProject(owner, names, newSigningKey));
      return {
        projectIds: [],
        act,
        again: async () => requireStatus('a second creation', await act(), 200),
        verify: async (done) => {
          const records = await world.at.control('projects', { ownerId: new ObjectId(owner.id) });
          const slots = records.map(({ slot }) => slot as number);
          requireEqual('places', new Set(slots).size, slots.length);
          if (done && records.length === 0) throw new Error('The project is gone');
        },
      };
    },
  },
  {
    name: 'deletion of a developer',
    refusals: [401],
    prepare: async (world) => {
      const email = newAddress();
      const { account, session } = await signUpDeveloper({ email, password }, client);
      const id = account._id.toHexString();
      const bearer = { userId: id, sessionId: session.sessionId };
      const made = await createProject({ id, plan: 'free' }, { name: 'his' }, newSigningKey);
      const act = (): Promise<number> => statusFor(() => deleteDeveloper(bearer, password, client));
      return {
        projectIds: [],
        act,
        again: async () => requireStatus('a second deletion', await act(), 200, 401, 404),
        verify: async (done) => {
          const developers = await world.at.control('developers', { _id: account._id });
          const projects = await world.at.control('projects', { _id: new ObjectId(made._id) });
          requireEqual('account and project', [developers.length, projects.length], [0, 0], ...(done ? [] : [[1, 1]]));
        },
      };
    },
  },
];
