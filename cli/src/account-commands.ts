import { deleteToken, readTokens, storeToken } from './credentials.ts';
import { Dashboard } from './dashboard.ts';
import { findUrl, openDashboard, type Place } from './linked-project.ts';
import { CommandError, type Terminal } from './terminal.ts';

interface AccountOptions extends Place {
  readonly json?: boolean | undefined;
}

interface Developer {
  readonly email: string;
}

const printJson = (terminal: Terminal, value: unknown): void => terminal.print(`${JSON.stringify(value)}\n`);

/** Returns the developer's email, or `null` if the token may not read the account. */
const emailOf = async (dashboard: Dashboard): Promise<string | null> => {
  try {
    return (await dashboard.get<Developer>('/api/auth/me')).email;
  } catch (error) {
    if (error instanceof CommandError && error.code === 'SCOPE_REQUIRED') return null;
    throw error;
  }
};

/** Checks a token and stores it for the dashboard's address. */
export const login = async (terminal: Terminal, options: AccountOptions): Promise<number> => {
  const url = await findUrl(terminal, options);
  const token = (await terminal.readInput(`Personal access token for ${url}: `)).trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) {
    throw new CommandError(
      'Standard input must be a personal access token. Create one in the console, under Account → Tokens.',
    );
  }
  const email = await emailOf(new Dashboard(url, token));
  await storeToken(terminal, url, token);
  if (options.json) printJson(terminal, { url, email });
  else terminal.print(`Signed in to ${url}${email === null ? '' : ` as ${email}`}.\n`);
  return 0;
};

export const logout = async (terminal: Terminal, options: AccountOptions): Promise<number> => {
  const url = await findUrl(terminal, options);
  const wasStored = await deleteToken(terminal, url);
  if (options.json) printJson(terminal, { url, deleted: wasStored });
  else terminal.print(wasStored ? `Deleted the token for ${url}.\n` : `There is no token for ${url}.\n`);
  if (wasStored) terminal.note('The token itself stays valid. Revoke it in the console, under Account → Tokens.');
  return 0;
};

export const whoami = async (terminal: Terminal, options: AccountOptions): Promise<number> => {
  const dashboard = await openDashboard(terminal, options);
  const { email } = await dashboard.get<Developer>('/api/auth/me');
  const isStored = !terminal.env.BASALT_TOKEN && Object.hasOwn(await readTokens(terminal), dashboard.url);
  if (options.json) printJson(terminal, { email, url: dashboard.url, token: isStored ? 'stored' : 'BASALT_TOKEN' });
  else terminal.print(`${email}\n`);
  return 0;
};
