import { request } from '../../api/request.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { say } from '../../ui/toast.tsx';
import type { SettingsProps } from './settings.tsx';

const empty = { name: '', issuer: '', clientId: '', clientSecret: '' };

export const NewProvider = ({ project }: SettingsProps) => {
  const { draft, set } = useDraft(empty);
  const add = async () => {
    const { name, ...registration } = draft.value;
    const socialProviders = { [`oidc:${name}`]: { enabled: true, ...registration } };
    await request('update-project', { projectId: project._id, body: { socialProviders } });
    draft.value = empty;
    say(t.settings.saved);
  };
  return (
    <section class="card stack">
      <h2>{t.settings.addProvider}</h2>
      <p class="muted">{t.settings.addProviderWhy}</p>
      <Form guarded act={t.settings.addProviderAct} onSubmit={add}>
        {(wrong) => {
          const about = (field: string) => wrong(`socialProviders.oidc:${draft.value.name}${field}`);
          return (
            <>
              <Field
                label={t.settings.providerName}
                hint={t.settings.providerNameHint}
                value={draft.value.name}
                required
                pattern="[a-z0-9\-]{1,32}"
                onInput={set('name')}
                wrong={about('')}
              />
              <Field
                label={t.settings.issuer}
                type="url"
                required
                value={draft.value.issuer}
                onInput={set('issuer')}
                wrong={about('.issuer')}
              />
              <Field
                label={t.settings.clientId}
                required
                value={draft.value.clientId}
                onInput={set('clientId')}
                wrong={about('.clientId')}
              />
              <Field
                label={t.settings.clientSecret}
                required
                type="password"
                autocomplete="off"
                value={draft.value.clientSecret}
                onInput={set('clientSecret')}
                wrong={about('.clientSecret')}
              />
            </>
          );
        }}
      </Form>
    </section>
  );
};
