import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

type Node = ReturnType<typeof syntaxTree>['topNode'];

const membersOf = (state: EditorState, node: Node): readonly (readonly [key: string, at: Node, value: Node])[] => {
  if (node.name === 'Array') {
    const elements = childrenOf(node).filter(({ name }) => !/^[[\],⚠]$/.test(name));
    return elements.map((element, place) => [String(place), element, element]);
  }
  return node.getChildren('Property').flatMap((property) => {
    const name = property.getChild('PropertyName');
    const value = property.lastChild;
    if (!name || !value) return [];
    return [[state.sliceDoc(name.from, name.to).replace(/^"|"$/g, ''), name, value]];
  });
};

const childrenOf = (node: Node): readonly Node[] => {
  const children: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
};

/**
 * The range of the value at a dotted path in JSON, or of the innermost value on the way. Keys may contain dots, so
 * the longest matching key is used.
 */
export const rangeAt = (state: EditorState, path: string): { readonly from: number; readonly to: number } => {
  let node = syntaxTree(state).topNode.firstChild;
  let range = { from: node?.from ?? 0, to: node?.to ?? 0 };
  let rest = path;
  while (node && rest !== '') {
    const fits = membersOf(state, node).filter(([key]) => rest === key || rest.startsWith(`${key}.`));
    const [found] = fits.sort(([one], [other]) => other.length - one.length);
    if (!found) break;
    const [key, at, value]: readonly [string, Node, Node] = found;
    range = { from: at.from, to: value.to };
    rest = rest.slice(key.length + 1);
    node = value;
  }
  return range;
};
