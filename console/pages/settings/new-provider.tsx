import { request } from '../../api/request.ts';
import { accounts } from '../../text/accounts.ts';
import { t } from '../../text/words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { say } from '../../ui/toast.tsx';
import { callbackOf } from './provider-form.tsx';
import type { SettingsProps } from './settings.tsx';

const words = accounts.providers;

interface Props extends SettingsProps {
  readonly onClose: () => void;
  readonly onAdded: (provider: string) => void;
}

/** Adds a provider by OpenID Connect. Its name is part of the callback URL, which is shown as it is typed. */
export const NewProvider = ({ project, onClose, onAdded }: Props) => {
  const { draft, set } = useDraft({ name: '', issuer: '', clientId: '', clientSecret: '' });
  const { name, ...registration } = draft.value;
  const provider = `oidc:${name}`;
  const add = async () => {
    const socialProviders = { [provider]: { enabled: true, ...registration } };
    await request('update-project', { projectId: project._id, body: { socialProviders } });
    onAdded(provider);
    say(t.settings.saved);
  };
  return (
    <Dialog title={words.add} onClose={onClose}>
      <p class="muted">{words.addWhy}</p>
      <Form guarded act={words.add} cancel={t.acts.cancel} onCancel={onClose} onSubmit={add}>
        {(wrong) => {
          const about = (field: string) => wrong(`socialProviders.${provider}${field}`);
          return (
            <>
              <Field
                label={words.name}
                hint={words.nameWhy}
                value={name}
                required
                pattern="[a-z0-9\-]{1,32}"
                onInput={set('name')}
                wrong={about('')}
              />
              {name !== '' && <Snippet code={callbackOf(provider)} label={words.callback(name)} />}
              <Field
                label={words.issuer}
                hint={words.issuerWhy}
                type="url"
                required
                value={registration.issuer}
                onInput={set('issuer')}
                wrong={about('.issuer')}
              />
              <Field
                label={words.clientId}
                required
                value={registration.clientId}
                onInput={set('clientId')}
                wrong={about('.clientId')}
              />
              <Field
                label={words.clientSecret}
                required
                type="password"
                autocomplete="off"
                value={registration.clientSecret}
                onInput={set('clientSecret')}
                wrong={about('.clientSecret')}
              />
            </>
          );
        }}
      </Form>
    </Dialog>
  );
};
