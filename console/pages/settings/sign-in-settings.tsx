import { turnOnAccounts } from '../../api/accounts.ts';
import { request } from '../../api/request.ts';
import type { Input } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';
import { DirectoryForm } from './directory-form.tsx';
import { NewProvider } from './new-provider.tsx';
import { ProviderForm } from './provider-form.tsx';
import type { SettingsProps } from './settings.tsx';

const ways = ['password', 'emailCode', 'passkey', 'anonymous'] as const;

/** User accounts of the app: on or off, who can sign up, and the providers. */
export const SignInSettings = ({ project }: SettingsProps) => {
  const { _id: projectId, authEnabled, allowPublicSignup, strictSessions, signIn, socialProviders } = project;
  const saved = (hints: readonly string[] = []) => say([t.settings.saved, ...hints].join(' '));
  const change = async (body: Input<'update-project'>['body']) => {
    saved((await request('update-project', { projectId, body })).hints);
  };
  return (
    <div class="stack measure">
      <Switch
        label={t.settings.accounts}
        hint={t.settings.accountsWhy}
        on={authEnabled}
        onChange={async (on) => (on ? saved(await turnOnAccounts(projectId)) : change({ authEnabled: false }))}
      />
      <Switch
        label={t.settings.signUps}
        hint={t.settings.signUpsWhy}
        on={allowPublicSignup}
        onChange={(on) => change({ allowPublicSignup: on })}
      />
      <Switch
        label={t.settings.strictSessions}
        hint={t.settings.strictSessionsWhy}
        on={strictSessions}
        onChange={(on) => change({ strictSessions: on })}
      />
      {ways.map((way) => (
        <Switch
          key={way}
          label={t.settings.ways[way]}
          hint={t.settings.waysWhy[way]}
          on={signIn[way]}
          onChange={(on) => change({ signIn: { [way]: on } })}
        />
      ))}
      <Switch
        label={t.settings.secondFactor}
        hint={t.settings.secondFactorWhy}
        on={signIn.secondFactor === 'optional'}
        onChange={(on) => change({ signIn: { secondFactor: on ? 'optional' : 'off' } })}
      />
      <DirectoryForm project={project} />
      {Object.entries(socialProviders).map(([provider, shown]) => (
        <ProviderForm key={provider} project={project} provider={provider} shown={shown} />
      ))}
      <NewProvider project={project} />
    </div>
  );
};
