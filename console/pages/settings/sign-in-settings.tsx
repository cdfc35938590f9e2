import { turnOnAccounts } from '../../api/accounts.ts';
import { request } from '../../api/request.ts';
import type { Input } from '../../api/rows.ts';
import { accounts } from '../../text/accounts.ts';
import { inConsoleWords } from '../../text/hints.ts';
import { t } from '../../text/words.ts';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';
import { sayAccountsOn } from '../users/turn-on-accounts.tsx';
import { DirectoryForm } from './directory-form.tsx';
import { ProviderTiles } from './provider-tiles.tsx';
import type { SettingsProps } from './settings.tsx';

const ways = ['password', 'emailCode', 'passkey', 'anonymous'] as const;

/** User accounts of the app: on or off, who can sign up, and the providers. */
export const SignInSettings = ({ project }: SettingsProps) => {
  const { _id: projectId, authEnabled, allowPublicSignup, strictSessions, signIn, uploads } = project;
  const saved = (hints: readonly string[] = []) => say(`${t.settings.saved} ${inConsoleWords(hints)}`);
  const change = async (body: Input<'update-project'>['body']) => {
    saved((await request('update-project', { projectId, body })).hints);
  };
  return (
    <div class="stack sections">
      <div class="charts">
        <section class="card stack">
          <h2>{accounts.title}</h2>
          <Switch
            label={accounts.on}
            hint={accounts.onWhy}
            on={authEnabled}
            onChange={async (on) =>
              on ? sayAccountsOn(projectId, await turnOnAccounts(projectId)) : change({ authEnabled: false })
            }
          />
          <Switch
            label={accounts.signUps}
            hint={accounts.signUpsWhy}
            on={allowPublicSignup}
            onChange={(on) => change({ allowPublicSignup: on })}
          />
          <Switch
            label={accounts.strictSessions}
            hint={accounts.strictSessionsWhy}
            on={strictSessions}
            onChange={(on) => change({ strictSessions: on })}
          />
          <Switch
            label={accounts.userUploads}
            hint={accounts.userUploadsWhy}
            on={uploads.users}
            onChange={(users) => change({ uploads: { users } })}
          />
          <p class="small muted">{accounts.immediately}</p>
        </section>
        <section class="card stack">
          <h2>{accounts.methods}</h2>
          {ways.map((way) => (
            <Switch
              key={way}
              label={accounts.ways[way]}
              hint={accounts.waysWhy[way]}
              on={signIn[way]}
              onChange={(on) => change({ signIn: { [way]: on } })}
            />
          ))}
          <Switch
            label={accounts.secondFactor}
            hint={accounts.secondFactorWhy}
            on={signIn.secondFactor === 'optional'}
            onChange={(on) => change({ signIn: { secondFactor: on ? 'optional' : 'off' } })}
          />
        </section>
      </div>
      <ProviderTiles project={project} />
      <DirectoryForm project={project} />
    </div>
  );
};
