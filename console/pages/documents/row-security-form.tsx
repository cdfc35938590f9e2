import { useSignal } from '@preact/signals';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Field, useDraft } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';
import { firstRules, objectIn } from './rules-text.ts';

type Collection = Data<'get-collection'>;

/** Who may do what with a publishable key, as a sentence and as settings. */
export const RowSecurityForm = ({
  projectId,
  collection,
}: {
  readonly projectId: string;
  readonly collection: Collection;
}) => {
  const { rls, name: collectionName } = collection;
  const enabled = useSignal(rls.enabled);
  const { draft, set } = useDraft({
    mode: rls.mode,
    ownerField: rls.ownerField ?? 'userId',
    // Under rules documents may belong to nobody.
    rulesOwner: rls.enabled ? (rls.ownerField ?? '') : '',
    trash: rls.trash,
    requires: rls.requires,
  });
  const rules = useSignal(JSON.stringify(rls.rules ?? firstRules, null, 2));
  const settings = () => {
    const { rulesOwner, ...fixed } = draft.value;
    if (fixed.mode !== 'rules') return fixed;
    return { ...fixed, ownerField: rulesOwner, rules: objectIn('rls.rules', rules.value) };
  };
  const save = async () => {
    const { hints = [] } = await request('update-collection', {
      projectId,
      collectionName,
      body: { rls: enabled.value ? { enabled: true, ...settings() } : { enabled: false } },
    });
    say([t.settings.saved, ...hints].join(' '));
  };
  const { mode, ownerField, rulesOwner, trash, requires } = draft.value;
  return (
    <section class="card stack measure">
      <h2>{t.rls.title}</h2>
      <p>
        {enabled.value ? t.rls.says[mode](ownerField) : t.rls.off}
        {enabled.value && requires === 'mfa' && ` ${t.rls.mfa}`}
      </p>
      <Form act={t.acts.save} onSubmit={save}>
        {(wrong) => (
          <>
            <Switch
              label={t.rls.enabled}
              on={enabled.value}
              onChange={(on) => {
                enabled.value = on;
              }}
            />
            {enabled.value && (
              <>
                <Select label={t.rls.mode} value={mode} options={Object.entries(t.rls.modes)} onInput={set('mode')} />
                {mode === 'rules' && (
                  <JsonEditor
                    label={t.rls.rules}
                    text={rules.value}
                    wrong={wrong('rls.rules')}
                    onInput={(text) => {
                      rules.value = text;
                    }}
                  />
                )}
                <Field
                  label={t.rls.ownerField}
                  hint={mode === 'rules' ? t.rls.noOwner : undefined}
                  value={mode === 'rules' ? rulesOwner : ownerField}
                  onInput={set(mode === 'rules' ? 'rulesOwner' : 'ownerField')}
                  wrong={wrong('rls.ownerField')}
                />
                <Select
                  label={t.rls.trash}
                  value={trash}
                  options={Object.entries(t.rls.audiences)}
                  onInput={set('trash')}
                />
                <Select
                  label={t.rls.requires}
                  value={requires}
                  options={Object.entries(t.rls.requirements)}
                  onInput={set('requires')}
                />
              </>
            )}
          </>
        )}
      </Form>
    </section>
  );
};
