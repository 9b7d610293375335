// three.js's CCDIKSolver on the chains of work.py. The first line of standard input is {folder, lengths, start, targets,
// sweeps, tolerance, most}, most: none, or the largest Euler angles of each bone to either side; then "run" is answered by microseconds for all targets, "answers" by the quaternions (w x y z).
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => { const line = await lines.next(); return line.done ? null : line.value; };
const work = JSON.parse(await next());
const from = path => import(pathToFileURL(join(work.folder, 'node_modules/three', path)));
const { Bone, BufferGeometry, REVISION, Skeleton, SkinnedMesh, Vector3 } = await from('build/three.module.js');
const { CCDIKSolver } = await from('examples/jsm/animation/CCDIKSolver.js');

const count = work.lengths.length;
const bones = [];
for (let i = 0; i <= count; i++) {
	const bone = new Bone();
	if (i) { bone.position.set(0, work.lengths[i - 1], 0); bones[i - 1].add(bone); }
	bones.push(bone);
}
const target = new Bone();
const mesh = new SkinnedMesh(new BufferGeometry());
mesh.add(bones[0]);
mesh.add(target);
mesh.bind(new Skeleton([...bones, target]));
const links = Array.from({ length: count }, (_, i) => {
	const most = work.most?.[count - 1 - i];
	return { index: count - 1 - i, ...(most && { rotationMin: new Vector3(...most).negate(), rotationMax: new Vector3(...most) }) };
});
// one iteration a call, so that it stops where the target is reached, as the others do
const solver = new CCDIKSolver(mesh, [{ target: count + 1, effector: count, links, iteration: 1 }]);

const tip = new Vector3();
const answers = [];
function run() {
	answers.length = 0;
	const begin = process.cpuUsage();
	for (const place of work.targets) {
		for (let i = 0; i < count; i++) {
			const [w, x, y, z] = work.start[i];
			bones[i].quaternion.set(x, y, z, w);
		}
		bones[0].updateMatrixWorld(true);
		target.position.set(...place);
		target.updateMatrixWorld(true);
		for (let sweep = 0; sweep < work.sweeps; sweep++) {
			if (tip.setFromMatrixPosition(bones[count].matrixWorld).distanceTo(target.position) <= work.tolerance) break;
			solver.update();
		}
		answers.push(bones.slice(0, count).map(({ quaternion: q }) => [q.w, q.x, q.y, q.z]));
	}
	const spent = process.cpuUsage(begin);
	return spent.user + spent.system;
}
for (let i = 0; i < 3; i++) run(); // compiled
console.log(JSON.stringify(REVISION));
for (let line; (line = await next()) !== null;) console.log(JSON.stringify(line === 'run' ? run() : answers));
