import { useRef } from 'preact/hooks';
import type { Collection } from '../../../shared/collections/collection.ts';
import { access } from '../../text/access.ts';
import { JsonEditor, type JsonEditorHandle } from '../../ui/json-editor.tsx';
import { Select } from '../../ui/select.tsx';
import { optionalRules, pathOf, presentRule, type RuleChoice, type RuleDraft } from './access-draft.ts';
import { explainRule } from './explain-rule.ts';
import { Explained } from './explained.tsx';
import type { RuleName } from './rule-clauses.ts';
import { partsFor } from './rule-parts.ts';

interface Props {
  readonly name: RuleName;
  readonly draft: RuleDraft;
  /** With the owner field that is being edited. */
  readonly collection: Collection;
  readonly known: readonly Collection[];
  readonly hints: readonly string[];
  /** The service's error for the rule, and for the value inside it. */
  readonly wrong: string | undefined;
  readonly wrongValue: { readonly path: string; readonly message: string } | undefined;
  readonly onChange: (draft: RuleDraft) => void;
}

const choicesFor = (name: RuleName, { choice }: RuleDraft, ownerField: string): readonly RuleChoice[] => [
  ...(optionalRules.includes(name) ? (['default'] as const) : []),
  ...(['false', 'true', 'signedIn'] as const),
  ...(ownerField !== '' || choice === 'owner' ? (['owner'] as const) : []),
  'custom',
];

const Saying = ({ name, draft, collection, known }: Pick<Props, 'name' | 'draft' | 'collection' | 'known'>) => {
  if (draft.choice === 'default') return <>{access.defaults[name as keyof typeof access.defaults]}</>;
  const rule = presentRule(name, draft, collection.rls.ownerField);
  const sentences = explainRule(name, rule, collection, known);
  return <Explained sentences={sentences.length > 0 ? sentences : [access.unclear]} />;
};

/** One rule: a choice or JSON, and its explanation. */
export const RuleField = ({ name, draft, collection, known, hints, wrong, wrongValue, onChange }: Props) => {
  const editor = useRef<JsonEditorHandle | undefined>(undefined);
  const [label, what] = access.rules[name];
  const isCustom = draft.choice === 'custom';
  const choices = choicesFor(name, draft, collection.rls.ownerField);
  const choose = (value: string) => {
    const choice = choices.find((each) => each === value) ?? 'custom';
    const present = presentRule(name, draft, collection.rls.ownerField);
    const isText = choice === 'custom' && typeof present === 'object' && present !== null;
    onChange({ choice, text: isText ? JSON.stringify(present, null, 2) : draft.text });
  };
  const groups = isCustom ? partsFor(name, collection, known) : undefined;
  return (
    <section class="rule" aria-label={label}>
      <Select
        label={label}
        hint={what}
        value={draft.choice}
        options={choices.map((each) => [each, access.choices[each]])}
        onInput={(event) => choose(event.currentTarget.value)}
        wrong={isCustom ? undefined : wrong}
      />
      <div class="stack">
        <p class="saying" aria-live="polite">
          <Saying name={name} draft={draft} collection={collection} known={known} />
        </p>
        {groups && (
          <div class="rule-edit">
            <JsonEditor
              low
              label={access.ruleOf(label)}
              text={draft.text}
              parts={Object.values(groups).flat()}
              wrong={wrong}
              wrongValue={wrongValue}
              onReady={(ready) => {
                editor.current = ready;
              }}
              onInput={(text) => onChange({ ...draft, text })}
            />
            <div class="rule-parts">
              {(Object.keys(groups) as (keyof typeof groups)[]).map((group) => (
                <fieldset key={group}>
                  <legend class="small muted">{access.groups[group]}</legend>
                  <div class="row">
                    {groups[group].map((part) => (
                      <button
                        key={part.label}
                        type="button"
                        class="part mono"
                        title={part.hint}
                        aria-label={access.insert(part.label)}
                        onClick={() => editor.current?.insert(part)}
                      >
                        {part.label}
                      </button>
                    ))}
                  </div>
                </fieldset>
              ))}
            </div>
          </div>
        )}
        {hints.map((hint) => (
          <p key={hint} class="note warning" role="status">
            {hint}
          </p>
        ))}
      </div>
    </section>
  );
};

/** Errors of values inside a rule, with paths relative to it. */
export const wrongValueOf = (
  name: RuleName,
  fields: readonly { readonly field: string; readonly message: string }[],
) => {
  const at = `${pathOf(name)}.`;
  const found = fields.find(({ field }) => field.startsWith(at));
  return found && { path: found.field.slice(at.length), message: found.message };
};
