import type { Collection } from '../../../shared/collections/collection.ts';
import { access } from '../../text/access.ts';
import { Switch } from '../../ui/switch.tsx';
import { type AccessDraft, optionalRules, pathOf, type RuleDraft } from './access-draft.ts';
import type { RuleName } from './rule-clauses.ts';
import { RuleField, wrongValueOf } from './rule-field.tsx';

interface Props {
  readonly draft: AccessDraft;
  readonly collection: Collection;
  readonly known: readonly Collection[];
  readonly hints: readonly string[];
  readonly fields: readonly { readonly field: string; readonly message: string }[];
  readonly wrong: (field: string) => string | undefined;
  readonly onChange: (changes: Partial<AccessDraft>) => void;
}

const isAbout = (path: string) => (text: string) =>
  text === path || text.startsWith(`${path}.`) || text.startsWith(`${path} `);

export const RulesForm = ({ draft, collection, known, hints, fields, wrong, onChange }: Props) => {
  const { splitRead, splitUpdate, rules } = draft;
  const reads: readonly RuleName[] = splitRead ? ['get', 'list'] : ['read'];
  const updates: readonly RuleName[] = splitUpdate ? ['before', 'after'] : ['update'];
  const shown = [...reads, 'create', ...updates, 'delete', ...optionalRules] as const;
  const others = hints.filter((hint) => !shown.some((name) => isAbout(pathOf(name))(hint)));
  const set = (name: RuleName) => (rule: RuleDraft) => onChange({ rules: { ...rules, [name]: rule } });
  const field = (name: RuleName) => (
    <RuleField
      key={name}
      name={name}
      draft={rules[name]}
      collection={collection}
      known={known}
      hints={hints.filter(isAbout(pathOf(name)))}
      wrong={wrong(pathOf(name))}
      wrongValue={wrongValueOf(name, fields)}
      onChange={set(name)}
    />
  );
  const isUsual = optionalRules.every((name) => rules[name].choice === 'default');
  return (
    <div class="rules">
      <p class="muted">
        {access.rulesWhy}{' '}
        <a href="/docs/guides/sharing-data" target="_blank" rel="noopener">
          {access.rulesRead}
        </a>
      </p>
      {others.map((hint) => (
        <p key={hint} class="note warning" role="status">
          {hint}
        </p>
      ))}
      {reads.map(field)}
      <Switch
        label={access.splitRead}
        on={splitRead}
        onChange={(on) =>
          onChange({
            splitRead: on,
            rules: on ? { ...rules, get: rules.read, list: rules.read } : { ...rules, read: rules.get },
          })
        }
      />
      {field('create')}
      {updates.map(field)}
      <Switch
        label={access.splitUpdate}
        on={splitUpdate}
        onChange={(on) =>
          onChange({
            splitUpdate: on,
            rules: on ? { ...rules, before: rules.update } : { ...rules, update: rules.before },
          })
        }
      />
      {field('delete')}
      <details open={!isUsual}>
        <summary>{access.more}</summary>
        {optionalRules.map(field)}
      </details>
    </div>
  );
};
