// Shows a recorded run: bodies, contacts and forces in 3-D, energies as curves, events as a list. No request is made.
{
  const run = JSON.parse(document.getElementById("run").textContent);
  const $ = (name) => document.getElementById(name);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const floats = (text) => new Float32Array(bytes(text));
  const whole = (text) => new Uint32Array(bytes(text));
  const t = floats(run.t), poses = floats(run.poses), energies = floats(run.energies);
  const starts = whole(run.starts), contacts = floats(run.contacts);
  const moving = run.bodies.map((body, i) => i).filter((i) => !run.bodies[i].pose);
  const frames = t.length, COLUMNS = 14; // a, b, point, normal, gap, zeta, lambda, friction force
  const digits = (value) => Number(value.toPrecision(4)).toString().replace("-", "−");

  // ---- the scene
  const scene = new THREE.Scene();
  scene.background = new THREE.Color("#dfe6ee");
  const camera = new THREE.PerspectiveCamera(45, 1, 0.01, 1000);
  camera.up.set(0, 0, 1);
  const sun = new THREE.DirectionalLight("white", 2.2);
  sun.position.set(-4, -5, 9.5);
  scene.add(sun, new THREE.HemisphereLight("#ffffff", "#8a8a80", 1.4));
  const things = [];
  const images = run.images.map((png) => {
    const texture = new THREE.TextureLoader().load(`data:image/png;base64,${png}`, draw);
    texture.colorSpace = THREE.SRGBColorSpace;
    return texture;
  });
  for (const body of run.bodies) {
    const group = new THREE.Group();
    for (const shape of body.shapes) {
      const mesh = new THREE.Mesh(geometryOf(shape), new THREE.MeshStandardMaterial({
        color: shape.tint ?? body.color, map: images[shape.image] ?? null, roughness: 0.65, flatShading: shape.kind === "mesh", side: THREE.DoubleSide }));
      mesh.position.set(...shape.position);
      mesh.quaternion.set(shape.turn[1], shape.turn[2], shape.turn[3], shape.turn[0]);
      group.add(mesh);
    }
    if (body.pose) place(group, body.pose, 0);
    scene.add(group);
    things.push(group);
  }

  function geometryOf(shape) {
    const [a, b, c] = shape.size;
    let made;
    switch (shape.kind) {
      case "sphere": return new THREE.SphereGeometry(a, 48, 32);
      case "ellipsoid": made = new THREE.SphereGeometry(1, 48, 32); made.scale(a, b, c); return made;
      case "box": return new THREE.BoxGeometry(2 * a, 2 * b, 2 * c);
      case "capsule": made = new THREE.CapsuleGeometry(a, 2 * b, 24, 64); made.rotateX(Math.PI / 2); return made;
      case "cylinder": made = new THREE.CylinderGeometry(a, a, 2 * b, 64); made.rotateX(Math.PI / 2); return made;
      case "plane": return new THREE.PlaneGeometry(run.reach, run.reach, 1, 1);
    }
    made = new THREE.BufferGeometry();
    made.setAttribute("position", new THREE.BufferAttribute(floats(shape.vertices), 3));
    if (shape.uv) made.setAttribute("uv", new THREE.BufferAttribute(floats(shape.uv), 2));
    made.setIndex(new THREE.BufferAttribute(whole(shape.triangles), 1));
    made.computeVertexNormals();
    return made;
  }

  function place(group, numbers, at) {
    group.position.set(numbers[at], numbers[at + 1], numbers[at + 2]);
    group.quaternion.set(numbers[at + 4], numbers[at + 5], numbers[at + 6], numbers[at + 3]);
  }

  // ---- contacts: a dot each, an arrow for its force on body b
  const dots = [], arrows = [];
  const dotShape = new THREE.SphereGeometry(1, 16, 12);
  const perNewton = run.force;
  function contact(k) {
    while (dots.length <= k) {
      const dot = new THREE.Mesh(dotShape, new THREE.MeshBasicMaterial({ color: "#1b2230", depthTest: false }));
      const arrow = new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 1, "#c4109b");
      arrow.line.material.depthTest = arrow.cone.material.depthTest = false;
      scene.add(dot, arrow);
      dots.push(dot);
      arrows.push(arrow);
    }
    return [dots[k], arrows[k]];
  }

  let frame = 0;
  function show(n) {
    frame = Math.max(0, Math.min(frames - 1, n));
    moving.forEach((i, k) => place(things[i], poses, 7 * (frame * moving.length + k)));
    const first = starts[frame], count = starts[frame + 1] - first;
    for (let k = 0; k < Math.max(count, dots.length); k++) {
      const [dot, arrow] = contact(k);
      dot.visible = k < count;
      arrow.visible = false;
      if (k >= count) continue;
      const row = contacts.subarray(COLUMNS * (first + k), COLUMNS * (first + k + 1));
      dot.position.set(row[2], row[3], row[4]);
      dot.scale.setScalar(0.006 * distance);
      const force = new THREE.Vector3(row[5], row[6], row[7]).multiplyScalar(row[10])
        .add(new THREE.Vector3(row[11], row[12], row[13]));
      const length = force.length() * perNewton;
      if (length > 1e-6) {
        arrow.visible = true;
        arrow.position.copy(dot.position);
        arrow.setDirection(force.normalize());
        arrow.setLength(length, Math.min(0.05 * distance, 0.4 * length), Math.min(0.025 * distance, 0.2 * length));
      }
    }
    $("bar").value = frame;
    $("time").textContent = `t = ${t[frame].toFixed(3)} s`;
    $("bar").setAttribute("aria-valuetext", $("time").textContent);
    const e = energies.subarray(3 * frame, 3 * frame + 3);
    $("now").innerHTML = [[run.words.contacts, count], [run.words.kinetic, digits(e[0]) + " J"],
      [run.words.potential, digits(e[1]) + " J"]].map(([a, b]) => `<dt>${a}</dt><dd>${b}</dd>`).join("");
    for (const item of $("events").children) item.className = item.dataset.t <= t[frame] ? "past" : "";
    plot();
    draw();
  }

  // ---- the camera: drag to orbit, wheel to come closer, right drag or Shift to move
  let [distance, azimuth, elevation] = run.camera;
  const target = new THREE.Vector3(...run.target);
  function look() {
    const a = azimuth * Math.PI / 180, e = elevation * Math.PI / 180;
    camera.position.set(Math.cos(a) * Math.cos(e), Math.sin(a) * Math.cos(e), Math.sin(e))
      .multiplyScalar(distance).add(target);
    camera.lookAt(target);
  }
  let renderer = null;
  try {
    renderer = new THREE.WebGLRenderer({ antialias: true });
    renderer.domElement.tabIndex = 0;
    $("view").append(renderer.domElement);
  } catch (error) {
    $("tip").hidden = false;
    $("tip").textContent = run.words.flat;
  }
  function draw() {
    look();
    if (renderer) renderer.render(scene, camera);
  }
  function resize() {
    const { clientWidth: w, clientHeight: h } = $("view");
    camera.aspect = w / Math.max(h, 1);
    camera.updateProjectionMatrix();
    if (renderer) {
      renderer.setPixelRatio(window.devicePixelRatio);
      renderer.setSize(w, h, false);
    }
    plot();
    draw();
  }
  let dragged = null;
  $("view").addEventListener("contextmenu", (event) => event.preventDefault());
  $("view").addEventListener("pointerdown", (event) => { dragged = event; });
  window.addEventListener("pointerup", () => { dragged = null; });
  window.addEventListener("pointermove", (event) => {
    if (!dragged) return hover(event);
    const dx = event.clientX - dragged.clientX, dy = event.clientY - dragged.clientY;
    if (event.buttons & 2 || event.shiftKey) {
      const scale = distance / $("view").clientHeight;
      target.addScaledVector(new THREE.Vector3().setFromMatrixColumn(camera.matrix, 0), -dx * scale)
        .addScaledVector(new THREE.Vector3().setFromMatrixColumn(camera.matrix, 1), dy * scale);
    } else {
      azimuth -= 0.4 * dx;
      elevation = Math.max(-89, Math.min(89, elevation + 0.4 * dy));
    }
    dragged = event;
    draw();
  });
  $("view").addEventListener("wheel", (event) => {
    event.preventDefault();
    distance *= Math.exp(0.001 * event.deltaY);
    show(frame);
  }, { passive: false });

  function numbersOf(k) {
    const row = contacts.subarray(COLUMNS * (starts[frame] + k), COLUMNS * (starts[frame] + k + 1));
    return `${run.bodies[row[0]].name} → ${run.bodies[row[1]].name}\nφ = ${digits(row[8])} m\nζ = ${digits(row[9])} m/s\n` +
      `λ = ${digits(row[10])} N\n|f_t| = ${digits(Math.hypot(row[11], row[12], row[13]))} N`;
  }
  function hover(event) {
    const box = $("view").getBoundingClientRect();
    const at = [event.clientX - box.left, event.clientY - box.top];
    let best = 14, found = -1;
    dots.forEach((dot, k) => {
      if (!dot.visible) return;
      const p = dot.position.clone().project(camera);
      const away = Math.hypot((p.x + 1) / 2 * box.width - at[0], (1 - p.y) / 2 * box.height - at[1]);
      if (p.z < 1 && away < best) [best, found] = [away, k];
    });
    $("tip").hidden = found < 0;
    if (found < 0) return;
    $("tip").textContent = numbersOf(found);
    $("tip").style.left = `${at[0] + 14}px`;
    $("tip").style.top = `${at[1] + 10}px`;
  }

  // ---- the curves
  function plot() {
    const canvas = $("plot"), ratio = window.devicePixelRatio;
    const [w, h] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    [canvas.width, canvas.height] = [w, h];
    const pen = canvas.getContext("2d");
    const curves = [[0, "#b86e00"], [1, "#0072b2"], [-1, "#1b2230"]];
    const value = (n, c) => c < 0 ? energies[3 * n] + energies[3 * n + 1] + energies[3 * n + 2] : energies[3 * n + c];
    let [low, high] = [Infinity, -Infinity];
    for (let n = 0; n < frames; n++) for (const [c] of curves) {
      low = Math.min(low, value(n, c));
      high = Math.max(high, value(n, c));
    }
    const x = (n) => 2 * ratio + (w - 4 * ratio) * n / Math.max(frames - 1, 1);
    const y = (v) => h - 4 * ratio - (h - 8 * ratio) * (v - low) / Math.max(high - low, 1e-12);
    pen.lineWidth = 1.5 * ratio;
    for (const [c, color] of curves) {
      pen.strokeStyle = color;
      pen.beginPath();
      for (let n = 0; n < frames; n++) pen.lineTo(x(n), y(value(n, c)));
      pen.stroke();
    }
    pen.strokeStyle = "#1a6fd4";
    pen.beginPath();
    pen.moveTo(x(frame), 0);
    pen.lineTo(x(frame), h);
    pen.stroke();
  }

  // ---- events, time, keys
  const at = (time) => { let n = 0; while (n < frames - 1 && t[n] < time - 1e-9) n++; return n; };
  for (const event of run.events) {
    const item = document.createElement("li"), button = document.createElement("button");
    item.dataset.t = event.t;
    button.textContent = event.text;
    button.onclick = () => { pause(); show(at(event.t)); };
    item.append(button);
    $("events").append(item);
  }
  if (!run.events.length) $("events").textContent = run.words.none;
  let playing = false, since = 0, from = 0;
  function pause() {
    playing = false;
    $("play").textContent = "▶";
  }
  function play() {
    playing = true;
    $("play").textContent = "❚❚";
    since = performance.now();
    from = frame === frames - 1 ? 0 : t[frame] - t[0];
    requestAnimationFrame(tick);
  }
  function tick(now) {
    if (!playing) return;
    const time = t[0] + from + (now - since) / 1000 * Number($("speed").value);
    show(at(time));
    if (time >= t[frames - 1]) return pause();
    requestAnimationFrame(tick);
  }
  $("bar").max = frames - 1;
  $("bar").oninput = () => { pause(); show(Number($("bar").value)); };
  $("play").onclick = () => playing ? pause() : play();
  $("speed").onchange = () => { if (playing) { pause(); play(); } };
  window.addEventListener("keydown", (event) => {
    if (["INPUT", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === " " && event.target.tagName !== "BUTTON") { playing ? pause() : play(); event.preventDefault(); }
    if (event.key === "ArrowRight") { pause(); show(frame + 1); }
    if (event.key === "ArrowLeft") { pause(); show(frame - 1); }
    if (event.key === "Home") { pause(); show(0); }
    if (event.key === "End") { pause(); show(frames - 1); }
  });
  window.addEventListener("resize", resize);
  resize();
  show(location.hash.startsWith("#t=") ? at(Number(location.hash.slice(3))) : 0);
  window.replay = { run, t, show, numbersOf, play, pause, pose: (i) => [...poses.subarray(
    7 * (frame * moving.length + moving.indexOf(i)), 7 * (frame * moving.length + moving.indexOf(i) + 1))] };
}
