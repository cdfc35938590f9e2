import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import { service } from '../../api/service.ts';
import { accounts } from '../../text/accounts.ts';
import { t } from '../../text/words.ts';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { SafeLink } from '../../ui/safe-link.tsx';
import { Snippet } from '../../ui/snippet.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { say } from '../../ui/toast.tsx';
import { fieldsOf, isByDiscovery, missingOf, registers, type Shown, stateOf, titleOf } from './provider-state.ts';
import type { SettingsProps } from './settings.tsx';

const words = accounts.providers;

export const callbackOf = (provider: string): string => `${service().api}/api/userAuth/social/${provider}/callback`;

interface Props extends SettingsProps {
  readonly provider: string;
  readonly shown: Shown;
  readonly close: () => void;
  /** Closes it, and asks before input is lost. */
  readonly onClose: () => void;
}

/** The credentials of one provider. Secrets are not shown again. */
export const ProviderForm = ({ project, provider, shown, close, onClose }: Props) => {
  const { fields, secret, isKept } = fieldsOf(shown);
  // A developer who sets a provider up wants it on.
  const on = useSignal(shown.enabled || stateOf(shown).state === 'unset');
  const { draft, set } = useDraft<Record<string, string>>({
    ...Object.fromEntries(fields.map((name) => [name, shown[name] ?? ''])),
    [secret]: '',
  });
  const change = async (to: object | null) => {
    await request('update-project', { projectId: project._id, body: { socialProviders: { [provider]: to } } });
    close();
    say(t.settings.saved);
  };
  const save = () => {
    const given = draft.value;
    return change({
      enabled: on.value,
      ...Object.fromEntries(fields.map((name) => [name, given[name] || null])),
      ...(given[secret] ? { [secret]: given[secret] } : {}),
    });
  };
  const title = titleOf(provider);
  const missing = missingOf(fields, (name) => draft.value[name], secret, isKept || Boolean(draft.value[secret]));
  // A private key has several lines, which a single-line field would lose.
  const secretField = (wrong: (name: string) => string | undefined) => ({
    label: words[secret],
    hint: isKept ? t.settings.secretKept : secret === 'privateKey' ? words.privateKeyWhy : undefined,
    value: draft.value[secret] ?? '',
    onInput: set(secret),
    wrong: wrong(`socialProviders.${provider}.${secret}`),
  });
  const register = registers[provider];
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        {words.setUp(title)} {register && <SafeLink href={register}>{words.register(title)}</SafeLink>}
      </p>
      <div class="field">
        <span class="label">{words.callback(title)}</span>
        <Snippet code={callbackOf(provider)} label={words.callback(title)} />
      </div>
      <Form guarded act={t.acts.save} cancel={t.acts.cancel} onCancel={close} onSubmit={save}>
        {(wrong) => (
          <>
            {fields.map((name) => (
              <Field
                key={name}
                label={words[name]}
                value={draft.value[name] ?? ''}
                onInput={set(name)}
                wrong={wrong(`socialProviders.${provider}.${name}`)}
              />
            ))}
            {secret === 'privateKey' ? (
              <TextField {...secretField(wrong)} rows={6} />
            ) : (
              <Field {...secretField(wrong)} type="password" autocomplete="off" />
            )}
            <Switch
              label={words.enabled}
              hint={words.enabledWhy}
              on={on.value}
              onChange={(next) => {
                on.value = next;
              }}
            />
            {missing.length > 0 && <p class="note">{words.missing(missing)}</p>}
          </>
        )}
      </Form>
      {isByDiscovery(provider) && (
        <div class="row">
          <ConfirmedAct
            kind="danger"
            act={words.remove}
            text={words.removeText}
            name={provider}
            onConfirm={() => change(null)}
          />
        </div>
      )}
    </Dialog>
  );
};
