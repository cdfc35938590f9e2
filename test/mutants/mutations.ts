import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExportDeclaration,
  isExpressionStatement,
  isIfStatement,
  isImportDeclaration,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isReturnStatement,
  isStringLiteral,
  isTemplateExpression,
} from 'typescript/unstable/ast/is';
import type { Checker } from 'typescript/unstable/sync';
import { isCondition, variantsOf } from './condition-text.ts';

/** How the changed text takes the place of the original one. */
export type Form = 'expression' | 'arguments' | 'property' | 'statement' | 'middleware';

/** A change of the text from `start` to `end`. Without `after`, the text is removed. */
export interface Mutation {
  readonly operator: string;
  readonly form: Form;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

const filtered =
  /^(?:find|count|distinct|update|replace|delete)(?:One|Many|Documents)?(?:And(?:Update|Delete|Replace))?$/;
const checks = /^(?:require|check|assert|ensure|verify|refuse|reject|limit|end|revoke|consume)/;
const weaker: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const mongoWeaker: Readonly<Record<string, string>> = { $lt: '$lte', $lte: '$lt', $gt: '$gte', $gte: '$gt' };
const stryker: Readonly<Record<string, string>> = {
  ...{
    '+': '-',
    '-': '+',
    '*': '/',
    '/': '*',
    '%': '*',
    '===': '!==',
    '!==': '===',
    '&&': '||',
    '||': '&&',
    '??': '&&',
  },
  ...{ '<': '>=', '<=': '>', '>': '<=', '>=': '<' },
};

/**
 * The changes of a file: those that matter for access, single use and quotas (a check, a part of a condition or a
 * middleware is dropped, a comparison weakened, two arguments are swapped), or with `generic` the operators of Stryker.
 */
export const mutationsOf = (source: SourceFile, checker: Checker, generic: boolean): readonly Mutation[] => {
  const found: Mutation[] = [];
  const textOf = (node: Node): string => node.getText(source);
  const typeOf = (node: Node): string => {
    const type = checker.getTypeAtLocation(node);
    return type ? checker.typeToString(type) : '';
  };
  const add = (operator: string, node: Node, after: string, form: Form = 'expression', last = node): void => {
    found.push({ operator, form, start: node.getStart(source), end: last.end, after });
  };
  const isBoolean = (node: Node): boolean => /^(?:boolean|true|false)$/.test(typeOf(node));

  const force = (operator: string, node: Node): void => {
    for (const value of ['true', 'false']) if (textOf(node) !== value) add(operator, node, value);
  };
  const operandsOf = (node: Node, operator: SyntaxKind): readonly Node[] =>
    isBinaryExpression(node) && node.operatorToken.kind === operator
      ? [...operandsOf(node.left, operator), node.right]
      : [node];

  const conditions = (node: Node, parent: Node): void => {
    // An error for every request would be noticed.
    if (isIfStatement(node) && /^\{?\s*throw /.test(textOf(node.thenStatement))) add('check', node.expression, 'false');
    else if (isIfStatement(node)) force('check', node.expression);
    if (isConditionalExpression(node)) force('check', node.condition);
    const returned =
      isArrowFunction(node) && !isBlock(node.body) ? node.body : isReturnStatement(node) && node.expression;
    if (returned && isBoolean(returned)) force('check', returned);
    if (!isBinaryExpression(node)) return;
    const { kind } = node.operatorToken;
    if (kind !== SyntaxKind.AmpersandAmpersandToken && kind !== SyntaxKind.BarBarToken) return;
    if (isBinaryExpression(parent) && parent.operatorToken.kind === kind) return;
    const operands = operandsOf(node, kind);
    operands.forEach((_, at) => {
      const rest = operands.filter((__, other) => other !== at).map(textOf);
      add('part of a check', node, rest.join(kind === SyntaxKind.BarBarToken ? ' || ' : ' && '));
    });
  };

  const comparisons = (node: Node): void => {
    if (isBinaryExpression(node)) {
      const after = weaker[textOf(node.operatorToken)];
      if (after) add('comparison', node, `${textOf(node.left)} ${after} ${textOf(node.right)}`);
    } else if (isPropertyAssignment(node)) {
      const after = mongoWeaker[textOf(node.name)];
      if (after) add('comparison', node, `${after}: ${textOf(node.initializer)}`, 'property');
    }
  };

  const isFilter = (node: Node, parent: Node): boolean => {
    if (!isObjectLiteralExpression(node)) return false;
    const type = checker.getContextualType(node);
    if (type && checker.typeToString(type).startsWith('Filter<')) return true;
    if (!isCallExpression(parent) || !isPropertyAccessExpression(parent.expression)) return false;
    return filtered.test(textOf(parent.expression.name)) && parent.arguments[0] === node;
  };

  const filters = (node: Node): void => {
    if (!isObjectLiteralExpression(node)) return;
    const only = node.properties.length === 1 && /^\$/.test(textOf(node.properties[0] as Node));
    if (!only) for (const property of node.properties) add('part of a filter', property, '', 'property');
  };

  const texts = (node: Node): void => {
    if (!isStringLiteral(node) && !isNoSubstitutionTemplateLiteral(node) && !isTemplateExpression(node)) return;
    const text = textOf(node);
    const inner = text.slice(1, -1);
    if (!isCondition(inner)) return;
    for (const variant of variantsOf(inner)) add(variant.kind, node, `${text[0]}${variant.text}${text[0]}`);
  };

  const calls = (node: Node): void => {
    if (isExpressionStatement(node) && checks.test(textOf(node.expression).replace(/^await /, ''))) {
      add('call of a check', node, '', 'statement');
    }
    if (!isCallExpression(node)) return;
    const given = [...node.arguments];
    if (isPropertyAccessExpression(node.expression) && textOf(node.expression.name) === 'use') {
      const [middleware] = given;
      if (/endpoint\.ts$/.test(source.fileName) && middleware) add('middleware', middleware, '', 'middleware');
    }
    // `Math.min` and `Math.max` do not depend on the order.
    const types = given.length > 1 && !/^Math\./.test(textOf(node.expression)) ? given.map(typeOf) : [];
    given.slice(1).forEach((second, at) => {
      const first = given[at] as typeof second;
      if (
        types[at] === undefined ||
        types[at] !== types[at + 1] ||
        isArrowFunction(first) ||
        textOf(first) === textOf(second)
      )
        return;
      const swapped = given
        .with(at, second)
        .with(at + 1, first)
        .map(textOf);
      add('swap', given[0] as Node, swapped.join(', '), 'arguments', given.at(-1));
    });
  };

  const asStryker = (node: Node, parent: Node): void => {
    if (isIfStatement(node)) force('conditional', node.expression);
    if (isConditionalExpression(node)) force('conditional', node.condition);
    if (isBlock(node) && node.statements.length > 0) add('block', node, '', 'statement');
    if (node.kind === SyntaxKind.TrueKeyword) add('boolean', node, 'false');
    if (node.kind === SyntaxKind.FalseKeyword) add('boolean', node, 'true');
    const isName = isPropertyAssignment(parent) && parent.name === node;
    if ((isStringLiteral(node) || isTemplateExpression(node)) && !isName && textOf(node).length > 2)
      add('string', node, "''");
    if (!isBinaryExpression(node)) return;
    const operator = textOf(node.operatorToken);
    for (const after of [stryker[operator], weaker[operator]]) {
      if (after === undefined || (operator === '+' && typeOf(node) !== 'number')) continue;
      add('operator', node, `(${textOf(node.left)}) ${after} (${textOf(node.right)})`);
    }
  };

  const visit = (node: Node, parent: Node, inFilter: boolean): void => {
    const isType = node.kind >= SyntaxKind.FirstTypeNode && node.kind <= SyntaxKind.LastTypeNode;
    if (isType || isImportDeclaration(node) || isExportDeclaration(node)) return;
    if (node.kind === SyntaxKind.InterfaceDeclaration || node.kind === SyntaxKind.TypeAliasDeclaration) return;
    const filter = isFilter(node, parent) || (inFilter && !isArrowFunction(node) && !isCallExpression(node));
    if (generic) asStryker(node, parent);
    else {
      conditions(node, parent);
      comparisons(node);
      if (filter) filters(node);
      texts(node);
      calls(node);
    }
    node.forEachChild((child) => visit(child, node, filter));
  };
  source.forEachChild((child) => visit(child, source, false));
  return found;
};
