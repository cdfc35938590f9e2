import { useSignal } from '@preact/signals';
import type { TargetedEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Collection } from '../../../shared/collections/collection.ts';
import { type Problem, problemOf } from '../../api/problem.ts';
import { request } from '../../api/request.ts';
import { access } from '../../text/access.ts';
import { t } from '../../text/words.ts';
import { Badge } from '../../ui/badge.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { KeptDraft } from '../../ui/kept-draft.tsx';
import { useSavedDraft } from '../../ui/saved-draft.ts';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { say } from '../../ui/toast.tsx';
import type { CollectionSettingsProps } from '../documents/collection-settings.tsx';
import { collectionOf } from '../documents/shown-fields.ts';
import { AccessChanges } from './access-changes.tsx';
import { type AccessDraft, bodyOf, draftOf, presentRule } from './access-draft.ts';
import { type Access, type AccessKind, accessKinds } from './access-kinds.ts';
import { RulesForm } from './rules-form.tsx';

const Kinds = ({
  kind,
  saved,
  onChoose,
}: {
  readonly kind: AccessKind;
  readonly saved: AccessKind;
  readonly onChoose: (kind: AccessKind) => void;
}) => (
  <fieldset class="kinds">
    <legend>{access.who}</legend>
    {accessKinds.map((each) => (
      <label key={each} class="card kind" data-chosen={each === kind ? '' : undefined}>
        <span class="row">
          <input type="radio" name="kind" value={each} checked={each === kind} onChange={() => onChoose(each)} />
          <strong>{access.kinds[each][0]}</strong>
          {each === saved && <Badge kind="good">{access.current}</Badge>}
        </span>
        <span class="muted">{access.kinds[each][1]}</span>
      </label>
    ))}
  </fieldset>
);

/** Row security as it would be saved; rules that are not complete are `null`. */
const nextOf = (draft: AccessDraft): Access => ({
  mode: 'public-read',
  ownerField: '',
  ...bodyOf(draft, presentRule),
});

/** Who can read and write the documents of a collection: five cards, and the settings of the chosen one. */
export const AccessForm = ({ projectId, collection, known, hints, onSaved }: CollectionSettingsProps) => {
  const present = collectionOf(collection);
  const {
    draft,
    saved,
    isChanged,
    save: saveDraft,
  } = useSavedDraft(useMemo(() => draftOf(present.rls), [present.rls]));
  const failed = useSignal<Problem | undefined>(undefined);
  const change = (changes: Partial<AccessDraft>): void => {
    draft.value = { ...draft.value, ...changes };
  };
  const input =
    (name: 'ownerField' | 'rulesOwner' | 'trash' | 'requires') =>
    (event: TargetedEvent<HTMLInputElement | HTMLSelectElement>): void =>
      change({ [name]: event.currentTarget.value });
  const { kind, usersWrite, ownerField, rulesOwner, trash, requires } = draft.value;
  const save = async () => {
    failed.value = undefined;
    try {
      await saveDraft(async (sent) => {
        const { data, hints: said = [] } = await request('update-collection', {
          projectId,
          collectionName: collection.name,
          body: { rls: bodyOf(sent) },
        });
        onSaved(said);
        return draftOf(collectionOf(data).rls);
      });
      say(t.settings.saved);
    } catch (error) {
      failed.value = problemOf(error);
      throw error;
    }
  };
  const { query } = useLocation();
  const byRules = kind === 'rules';
  const hasSettings = kind !== 'server' && (kind !== 'public' || usersWrite);
  const hasOwner = !byRules || rulesOwner !== '';
  const edited: Collection = {
    ...present,
    rls: { ...present.rls, enabled: true, mode: 'rules', ownerField: rulesOwner },
  };
  return (
    <>
      <KeptDraft
        draft={draft.value}
        isTouched={isChanged}
        onRestore={(earlier) => {
          draft.value = earlier;
        }}
      />
      <Form
        guarded
        touched={isChanged}
        ready={isChanged}
        act={t.acts.save}
        onSubmit={save}
        doing={<AccessChanges collection={present} known={known} next={nextOf(draft.value)} isChanged={isChanged} />}
      >
        {(wrong) => (
          <>
            <Kinds kind={kind} saved={saved.kind} onChoose={(chosen) => change({ kind: chosen })} />
            {kind === 'public' && (
              <Switch
                label={access.usersWrite}
                on={usersWrite}
                onChange={(on) => change({ usersWrite: on })}
                marked={query.mark === 'users-write'}
              />
            )}
            {byRules && (
              <RulesForm
                draft={draft.value}
                collection={edited}
                known={known}
                hints={hints}
                fields={failed.value?.fields ?? []}
                wrong={wrong}
                onChange={change}
              />
            )}
            {hasSettings && (
              <div class="settings">
                <Field
                  label={access.ownerField}
                  hint={byRules ? `${access.ownerWhy} ${access.noOwner}` : access.ownerWhy}
                  value={byRules ? rulesOwner : ownerField}
                  onInput={input(byRules ? 'rulesOwner' : 'ownerField')}
                  wrong={wrong('rls.ownerField') ?? wrong(byRules ? rulesOwner : ownerField)}
                />
                {hasOwner && (
                  <Select
                    label={access.trash}
                    value={trash}
                    options={Object.entries(access.audiences)}
                    onInput={input('trash')}
                    wrong={wrong('trash')}
                  />
                )}
                <Select
                  label={access.requires}
                  hint={requires === 'mfa' ? access.mfa : undefined}
                  value={requires}
                  options={Object.entries(access.requirements)}
                  onInput={input('requires')}
                />
              </div>
            )}
          </>
        )}
      </Form>
    </>
  );
};
